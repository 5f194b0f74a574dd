-- ARGV: job, task, attempt, busy_s, kind, message, how ('again', 'dead', 'refused' or 'stable': anew on that channel).
-- Gives the state of the task, or of the job if that ended; nothing if the try does not count.
local job, name, attempt, busy_s, kind, message, how = unpack(ARGV)
if not holds(job, name, attempt) then return false end
redis.call('HINCRBYFLOAT', P .. 'job:' .. job, 'busy_s', busy_s)
if how ~= 'stable' then return fail_task(job, name, kind, message, how) end
tell(job, 'attempt', {task = name, kind = kind, message = message, channel = 'canary'})
start_over(job)
redis.call('HDEL', P .. 'job:' .. job, 'models')
set(job, 'channel', 'stable')
return 'waiting'
