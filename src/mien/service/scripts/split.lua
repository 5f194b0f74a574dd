-- ARGV: job, task, attempt, busy_s, output, frames, then name, first and end of each segment.
local job, name, attempt, busy_s, output, frames = unpack(ARGV, 1, 6)
local key = task_key(job, name)
if redis.call('HGET', key, 'state') == 'done' then return redis.call('HGET', key, 'attempt') == attempt and 1 or 0 end
if not holds(job, name, attempt) then return 0 end
finish_task(job, name, busy_s)
redis.call('HSET', key, 'output', output)
set(job, 'frames', frames, 'frames_done', 0)
for at = 7, #ARGV, 3 do
  redis.call('SADD', P .. 'left:' .. job, ARGV[at])
  add_task(job, ARGV[at], 'first', ARGV[at + 1], 'end', ARGV[at + 2])
end
return 1
