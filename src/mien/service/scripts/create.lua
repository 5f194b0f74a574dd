-- ARGV: job, then fields and values. Creating a job that is there already changes nothing.
local job = ARGV[1]
if redis.call('EXISTS', P .. 'job:' .. job) == 1 then return 0 end
set(job, unpack(ARGV, 2))
set(job, 'created_s', stamp(now()))
local tenant, created = get(job, 'tenant'), get(job, 'created_s')
redis.call('ZADD', P .. 'jobs:' .. tenant, created, job)
redis.call('ZADD', P .. 'open:' .. tenant, created, job)
set_state(job, 'queued')
add_task(job, 'start')
return 1
