-- ARGV: job. One that failed or was cancelled starts anew. Gives 1 if it did.
local state = get(ARGV[1], 'state')
if state ~= 'failed' and state ~= 'cancelled' then return 0 end
redis.call('HDEL', P .. 'job:' .. ARGV[1], 'channel', 'models', 'started_s')
start_over(ARGV[1])
return 1
