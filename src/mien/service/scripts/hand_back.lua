-- ARGV: job, task, attempt. A try that was stopped for no fault of its own does not count.
local job, name, attempt = unpack(ARGV)
if not holds(job, name, attempt) then return 0 end
redis.call('HINCRBY', task_key(job, name), 'spent', -1)
again(job, name)
return 1
