-- Shared by all scripts. KEYS[1] is the prefix of all keys. The server's clock is the only one.
--
--   job:ID                        hash     the job's fields
--   tasks:ID                      set      names of its tasks
--   task:ID/NAME                  hash     state, attempt, spent, worker, first, end, done, output, lost
--   left:ID                       set      segments that are not finished
--   events:ID                     stream   what happened
--   waiting:TIER:PRIORITY:TENANT  zset     ID/NAME by the moment it is due
--   tenants:TIER                  set      who waits
--   served:TIER                   hash     work that each tenant was given, over its weight
--   leases                        zset     ID/NAME by the moment its worker counts as lost
--   jobs:TENANT, open:TENANT      zset     all, and those that have not ended, by creation
--   dead                          zset     jobs that failed for good, by the moment
--   outcomes                      list     how jobs went whose networks are being rolled out
--   rollouts                      string   see `rollout`
--   counts                        hash     totals since the beginning, by name and labels: NAME|LABEL|...
--   sweeps                        zset     ID/NUMBER: jobs whose left-overs in storage are to go, by the moment
--   claim:REQUEST                 string   what a claim gave, for one that is sent again
local P = KEYS[1]
local PATIENCE = {high = 10, normal = 120, low = 600}
local EVENTS, EVENTS_KEPT, DEFAULT_LEASE = 2000, 100, 60

local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) + tonumber(time[2]) / 1000000
end

local function stamp(seconds) return string.format('%.6f', seconds) end

local function get(job, name) return redis.call('HGET', P .. 'job:' .. job, name) end

local function set(job, ...) redis.call('HSET', P .. 'job:' .. job, ...) end

local function task_key(job, name) return P .. 'task:' .. job .. '/' .. name end

local function tell(job, kind, data)
  redis.call('XADD', P .. 'events:' .. job, 'MAXLEN', '~', EVENTS, '*', 'kind', kind, 'data', cjson.encode(data))
end

local function is_live(job)
  local state = get(job, 'state')
  return state == 'queued' or state == 'running' or state == 'joining'
end

local function count(amount, ...)
  redis.call('HINCRBYFLOAT', P .. 'counts', table.concat({...}, '|'), amount)
end

local function busy(job, seconds)
  redis.call('HINCRBYFLOAT', P .. 'job:' .. job, 'busy_s', seconds)
  count(seconds, 'busy_seconds', get(job, 'tier'))
end

local function set_state(job, state)
  set(job, 'state', state)
  tell(job, 'state', {state = state})
end

-- True if a worker's try is the one that counts.
local function holds(job, name, attempt)
  local task = redis.call('HMGET', task_key(job, name), 'state', 'attempt')
  return task[1] == 'running' and task[2] == attempt and is_live(job)
end

local function queue_of(job)
  local about = redis.call('HMGET', P .. 'job:' .. job, 'tier', 'priority', 'tenant', 'created_s')
  return P .. 'waiting:' .. about[1] .. ':' .. about[2] .. ':' .. about[3], about
end

-- A tenant that comes back owes nothing and is owed nothing: it starts where the least served of the others is.
local function join_tenants(tier, tenant)
  if redis.call('SADD', P .. 'tenants:' .. tier, tenant) == 0 then return end
  local least = nil
  for _, other in ipairs(redis.call('SMEMBERS', P .. 'tenants:' .. tier)) do
    local served = tonumber(redis.call('HGET', P .. 'served:' .. tier, other) or 0)
    if other ~= tenant and (least == nil or served < least) then least = served end
  end
  local own = tonumber(redis.call('HGET', P .. 'served:' .. tier, tenant) or 0)
  if least ~= nil and own < least then redis.call('HSET', P .. 'served:' .. tier, tenant, least) end
end

local function leave_tenants(tier, tenant)
  for priority, _ in pairs(PATIENCE) do
    if redis.call('EXISTS', P .. 'waiting:' .. tier .. ':' .. priority .. ':' .. tenant) == 1 then return end
  end
  redis.call('SREM', P .. 'tenants:' .. tier, tenant)
end

local function enqueue(job, name)
  local queue, about = queue_of(job)
  redis.call('HSET', task_key(job, name), 'state', 'waiting')
  redis.call('ZADD', queue, stamp(tonumber(about[4]) + PATIENCE[about[2]]), job .. '/' .. name)
  join_tenants(about[1], about[3])
  redis.call('PUBLISH', P .. 'work:' .. about[1], name)
end

local function add_task(job, name, ...)
  redis.call('SADD', P .. 'tasks:' .. job, name)
  redis.call('HSET', task_key(job, name), 'spent', 0, 'done', 0, ...)
  enqueue(job, name)
end

-- Takes all tasks out of queues and leases; whoever works on one finds out with the next word to us.
local function withdraw(job)
  local queue, about = queue_of(job)
  for _, name in ipairs(redis.call('SMEMBERS', P .. 'tasks:' .. job)) do
    redis.call('ZREM', queue, job .. '/' .. name)
    redis.call('ZREM', P .. 'leases', job .. '/' .. name)
    redis.call('DEL', task_key(job, name))
  end
  redis.call('DEL', P .. 'tasks:' .. job, P .. 'left:' .. job)
  leave_tenants(about[1], about[3])
  redis.call('PUBLISH', P .. 'stopped', job)
end

local function start_over(job)
  withdraw(job)
  redis.call('HDEL', P .. 'job:' .. job, 'error', 'result', 'flagged', 'ended_s', 'stage')
  set(job, 'frames', 0, 'frames_done', 0)
  redis.call('ZADD', P .. 'open:' .. get(job, 'tenant'), get(job, 'created_s'), job)
  redis.call('ZREM', P .. 'dead', job)
  set_state(job, 'queued')
  add_task(job, 'start')
end

-- How a job went with the networks that its channel set. `ok` is null where that says nothing about them.
local function note_outcome(job, ok, why, figures)
  local models = get(job, 'models')
  if not models or models == '{}' then return end
  local outcome = cjson.decode(figures or '{}')
  outcome.job, outcome.models, outcome.ok, outcome.why = job, cjson.decode(models), ok, why
  redis.call('RPUSH', P .. 'outcomes', cjson.encode(outcome))
end

-- The canary has failed a job: it starts anew with the stable networks.
local function to_stable(job, why)
  note_outcome(job, false, why)
  start_over(job)
  redis.call('HDEL', P .. 'job:' .. job, 'models')
  set(job, 'channel', 'stable')
end

-- What nobody needs goes now, and once more when nobody who works on the job unasked can still be writing.
local function sweep(job)
  local time, late = now(), 2 * tonumber(get(job, 'lease_s') or DEFAULT_LEASE)
  redis.call('ZADD', P .. 'sweeps', stamp(time), job .. '/0', stamp(time + late), job .. '/1')
end

local function end_job(job, state, ...)
  withdraw(job)
  set(job, 'ended_s', stamp(now()), 'stage', '', ...)
  redis.call('ZREM', P .. 'open:' .. get(job, 'tenant'), job)
  sweep(job)
  count(1, 'jobs', get(job, 'tier'), get(job, 'channel') or 'stable', state)
  set_state(job, state)
  redis.call('XTRIM', P .. 'events:' .. job, 'MAXLEN', EVENTS_KEPT)
end

local function finish_task(job, name, busy_s)
  redis.call('HSET', task_key(job, name), 'state', 'done')
  redis.call('ZREM', P .. 'leases', job .. '/' .. name)
  busy(job, busy_s)
end

-- Puts a try's task back into its queue, with nothing done.
local function again(job, name)
  local done = tonumber(redis.call('HGET', task_key(job, name), 'done'))
  redis.call('HINCRBY', P .. 'job:' .. job, 'frames_done', -done)
  redis.call('HSET', task_key(job, name), 'done', 0)
  redis.call('ZREM', P .. 'leases', job .. '/' .. name)
  enqueue(job, name)
end

-- A try is over without a result. `how`: 'again' while tries are left, 'dead' or 'refused' at once, or 'stable' if it
-- is the canary's fault.
local function fail_task(job, name, kind, message, how)
  local spent = tonumber(redis.call('HGET', task_key(job, name), 'spent'))
  count(1, 'failed_tries', kind)
  tell(job, 'attempt', {task = name, kind = kind, message = message, channel = get(job, 'channel') or 'stable'})
  if how == 'again' and spent < tonumber(get(job, 'max_attempts')) then
    again(job, name)
    return 'waiting'
  end
  if how ~= 'refused' and get(job, 'channel') == 'canary' then
    to_stable(job, kind .. ': ' .. message)
    return 'waiting'
  end
  if how ~= 'refused' then redis.call('ZADD', P .. 'dead', stamp(now()), job) end
  note_outcome(job, cjson.null, '')
  end_job(job, 'failed', 'error', cjson.encode({kind = kind, message = message}))
  return 'failed'
end
