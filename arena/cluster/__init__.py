"""A league on other machines: the driver deals jobs to the workers of a dask cluster, and gets their blocks.

    driver (arena league run)                                     machine of a worker
    -------------------------                                     -------------------
    play_jobs -> ClusterBackend -> dealer --- dask RPC (TLS) ---> session -> bots (cache by hash)
       ^                              |                               |
       `---- blocks (commit) <--------'                               `-> arena's own worker process -> sandboxed bots

Dask starts and finds workers, encrypts, and carries messages: bytes of msgpack, made and checked by `messages` (and by
`checker`, for `arena verify`). Nothing is a dask task, so dask repeats nothing and moves nothing. No message holds
code, a path of the driver, or the league's secret. One dask worker plays one match at a time.

1. `meet`: the driver opens a session with a worker. The worker looks at itself (versions, rules, physics, sandbox,
   speed) and answers with its `Identity`; one that differs is left out with a sentence.
2. `exchange`, again and again: the driver gives jobs, each under the id of an attempt, and names the attempts that it
   waits for. The worker answers with the number of finished matches of each, all blocks of those that ended, its log
   records, and the hashes of bots that it lacks; the driver sends these as archives with its next message. An exchange
   may be repeated: a job that is known is not begun again, and its blocks stay until the driver waits for it no more.
3. `part`: the session ends at once, with all that it plays.

Exactly once: the driver alone commits. It takes blocks of attempts that are in its books, and of nobody else. A worker
that hears nothing for `lease_s` ends its session by itself; the driver declares a worker lost when the scheduler no
longer knows it, after `silent_s` > `lease_s` without an answer, or when it answers and gets nowhere for far longer than
a match takes (`peers`); only then it gives the jobs to others, as new attempts. An attempt is over when its future is,
in whichever way, so the driver waits for none that nobody plays.

Bots travel by content: `BotStore.pack` makes what the driver sends, `arena.store.cache` keeps it on the worker.
"""
