import asyncio, sys
async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        first, _ = await asyncio.gather(loop.run_in_executor(None, line.decode), asyncio.sleep(0.001))
        print("got", first.strip(), flush=True)
asyncio.run(main())
