import asyncio, concurrent.futures, subprocess, sys
async def said():
    child = await asyncio.create_subprocess_exec("echo", "got", stdout=subprocess.PIPE)
    return (await child.communicate())[0].decode().strip()
def main():
    for line in sys.stdin:
        with concurrent.futures.ProcessPoolExecutor(2) as pool: assert list(pool.map(abs, [-1, -2])) == [1, 2]
        print(asyncio.run(said()), line.strip(), flush=True)
main()
