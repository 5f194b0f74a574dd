-- ARGV: tier. For each tenant and priority that waits: tenant, priority, when its first is due, since when it waits,
-- how many wait, work served, and 1 if the first one's last worker was lost.
local heads = {}
for _, tenant in ipairs(redis.call('SMEMBERS', P .. 'tenants:' .. ARGV[1])) do
  local served = redis.call('HGET', P .. 'served:' .. ARGV[1], tenant) or '0'
  for priority, patience in pairs(PATIENCE) do
    local queue = P .. 'waiting:' .. ARGV[1] .. ':' .. priority .. ':' .. tenant
    local first = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
    if first[1] then
      local lost = redis.call('HGET', P .. 'task:' .. first[1], 'lost') or '0'
      local since = stamp(tonumber(first[2]) - patience)
      heads[#heads + 1] = {tenant, priority, first[2], since, redis.call('ZCARD', queue), served, lost}
    end
  end
end
return heads
