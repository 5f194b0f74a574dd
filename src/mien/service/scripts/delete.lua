-- ARGV: job. Forgets it; what it has in storage goes with the sweeps. Gives 1 if it was there.
local job = ARGV[1]
local tenant = get(job, 'tenant')
if not tenant then return 0 end
if is_live(job) then
  note_outcome(job, cjson.null, '')
  end_job(job, 'cancelled')
else
  sweep(job)
end
redis.call('ZREM', P .. 'jobs:' .. tenant, job)
redis.call('ZREM', P .. 'dead', job)
redis.call('DEL', P .. 'job:' .. job, P .. 'events:' .. job)
return 1
