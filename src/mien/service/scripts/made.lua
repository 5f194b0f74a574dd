-- ARGV: job, task, attempt, busy_s, output. A segment is finished; the one that was missing brings the join, once.
local job, name, attempt, busy_s, output = unpack(ARGV)
local key = task_key(job, name)
if redis.call('HGET', key, 'state') == 'done' then return redis.call('HGET', key, 'attempt') == attempt and 1 or 0 end
if not holds(job, name, attempt) then return 0 end
finish_task(job, name, busy_s)
local task = redis.call('HMGET', key, 'first', 'end', 'done')
redis.call('HINCRBY', P .. 'job:' .. job, 'frames_done', task[2] - task[1] - task[3])
redis.call('HSET', key, 'output', output)
redis.call('SREM', P .. 'left:' .. job, name)
tell(job, 'segment', {task = name, state = 'done'})
if redis.call('SCARD', P .. 'left:' .. job) == 0 then
  set_state(job, 'joining')
  add_task(job, 'join')
end
return 1
