-- ARGV: tier. For each tenant and priority that waits: tenant, priority, when its first is due, since when it waits,
-- how many wait, work served.
local heads = {}
for _, tenant in ipairs(redis.call('SMEMBERS', P .. 'tenants:' .. ARGV[1])) do
  local served = redis.call('HGET', P .. 'served:' .. ARGV[1], tenant) or '0'
  for priority, patience in pairs(PATIENCE) do
    local queue = P .. 'waiting:' .. ARGV[1] .. ':' .. priority .. ':' .. tenant
    local first = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
    if first[1] then
      local since = stamp(tonumber(first[2]) - patience)
      heads[#heads + 1] = {tenant, priority, first[2], since, redis.call('ZCARD', queue), served}
    end
  end
end
return heads
