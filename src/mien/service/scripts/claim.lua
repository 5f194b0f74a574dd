-- ARGV: request, tier, priority, tenant, worker, lease_s, kind of job ('' = any), 1 to take suspects, too.
-- Gives job, task, attempt, kind of job, 1 if it is suspect, first, end; nothing if the queue is empty or its first is
-- another.
local request, tier, priority, tenant, worker, lease_s, kind, suspects = unpack(ARGV)
local given = redis.call('GET', P .. 'claim:' .. request)
if given then return cjson.decode(given) end
local queue = P .. 'waiting:' .. tier .. ':' .. priority .. ':' .. tenant
local first = redis.call('ZRANGE', queue, 0, 0)[1]
if not first then return false end
local job, name = string.match(first, '^(.*)/(.*)$')
if kind ~= '' and get(job, 'kind') ~= kind then return false end
local lost = redis.call('HGET', task_key(job, name), 'lost') or '0'
if lost == '1' and suspects ~= '1' then return false end
redis.call('ZREM', queue, first)
leave_tenants(tier, tenant)
local attempt = redis.call('HINCRBY', P .. 'job:' .. job, 'attempts', 1)
local key = task_key(job, name)
redis.call('HINCRBY', key, 'spent', 1)
redis.call('HSET', key, 'state', 'running', 'attempt', attempt, 'worker', worker)
redis.call('ZADD', P .. 'leases', stamp(now() + lease_s), first)
redis.call('HINCRBYFLOAT', P .. 'served:' .. tier, tenant, 1 / tonumber(get(job, 'weight')))
set(job, 'lease_s', lease_s)
if get(job, 'state') == 'queued' then
  set(job, 'started_s', stamp(now()))
  set_state(job, 'running')
end
local range = redis.call('HMGET', key, 'first', 'end')
local answer = {job, name, tostring(attempt), get(job, 'kind'), lost, range[1] or '0', range[2] or '0'}
redis.call('SET', P .. 'claim:' .. request, cjson.encode(answer), 'EX', 600)
return answer
