-- ARGV: how many at most. Tries whose workers were not heard of in time are over. Gives their names.
local lost = redis.call('ZRANGEBYSCORE', P .. 'leases', '-inf', stamp(now()), 'LIMIT', 0, ARGV[1])
for _, member in ipairs(lost) do
  local job, name = string.match(member, '^(.*)/(.*)$')
  local worker = redis.call('HGET', task_key(job, name), 'worker')
  if worker and is_live(job) then
    redis.call('HSET', task_key(job, name), 'lost', 1)  -- It may be what the worker died of.
    fail_task(job, name, 'WorkerLost', 'worker ' .. worker .. ' was not heard of in time', 'again')
  else
    redis.call('ZREM', P .. 'leases', member)
  end
end
return lost
