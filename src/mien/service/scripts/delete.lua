-- ARGV: job. Forgets it; what it has in storage goes with the sweeps. Gives 1 if it was there.
local job = ARGV[1]
local tenant = get(job, 'tenant')
if not tenant then return 0 end
note_outcome(job, cjson.null, '')
end_job(job, 'cancelled')
redis.call('ZREM', P .. 'jobs:' .. tenant, job)
redis.call('ZREM', P .. 'dead', job)
redis.call('DEL', P .. 'job:' .. job, P .. 'events:' .. job)
return 1
