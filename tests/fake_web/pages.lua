-- For wrk: asks for the URLs of a file, one after the other, each with its
-- host's name. wrk ... -s pages.lua http://127.0.0.1:PORT/ -- urls.txt
local requests = {}
local next_one = 0

function init(args)
  for line in io.lines(args[1]) do
    local host, target = line:match("^http://([^/]+)(/.*)$")
    requests[#requests + 1] = "GET " .. target .. " HTTP/1.1\r\nHost: " .. host .. "\r\n\r\n"
  end
end

function request()
  next_one = next_one % #requests + 1
  return requests[next_one]
end
