-- ARGV: lease_s, then for each try job, task, attempt, frames done, stage. Gives 1 for each that still counts, else 0.
local answer, lease_s = {}, ARGV[1]
for at = 2, #ARGV, 5 do
  local job, name, attempt, done, stage = unpack(ARGV, at, at + 4)
  local key = task_key(job, name)
  if holds(job, name, attempt) then
    redis.call('ZADD', P .. 'leases', stamp(now() + lease_s), job .. '/' .. name)
    local before = tonumber(redis.call('HGET', key, 'done'))
    if tonumber(done) ~= before or stage ~= get(job, 'stage') then
      redis.call('HSET', key, 'done', done)
      set(job, 'stage', stage)
      local all = redis.call('HINCRBY', P .. 'job:' .. job, 'frames_done', tonumber(done) - before)
      tell(job, 'progress', {stage = stage, frames_done = all, frames = tonumber(get(job, 'frames'))})
    end
    answer[#answer + 1] = 1
  else
    answer[#answer + 1] = 0
  end
end
return answer
