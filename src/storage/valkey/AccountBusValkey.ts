/** The bus of account writes on Valkey or Redis 7. Loaded when several processes share the roles of a service. */
import { Effect, Layer } from "effect"
import { ACCOUNT_BOUNDS, AccountBus, type AccountBusBounds, type Leases, makeAccountBus } from "../bus/AccountBus.ts"
import { bufferOf, makeConnection, type Send } from "./busConnection.ts"
import { keyOf, makeValkeyLog } from "./busLogValkey.ts"

const KIND = "accounts"

/**
 * Scripts for leases. A set holds the owners with the ends of their leases by the server's clock. A hash per owner
 * holds its revision and accounts. Every script removes ended leases. Both keys expire when no lease is renewed.
 */
const LEASES_LUA = `
local ends, held = KEYS[1], KEYS[2]
local op, life = ARGV[1], tonumber(ARGV[2])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local remove = function(owner)
  redis.call('ZREM', ends, owner)
  redis.call('HDEL', held, owner .. ':r', owner .. ':a')
end
local extend = function(owner)
  redis.call('ZADD', ends, string.format('%.0f', now + life), owner)
  redis.call('PEXPIRE', ends, life)
  redis.call('PEXPIRE', held, life)
end
for _, owner in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', string.format('%.0f', now))) do remove(owner) end
if op == 'lease' then
  redis.call('HSET', held, ARGV[3] .. ':r', ARGV[4], ARGV[3] .. ':a', ARGV[5])
  extend(ARGV[3])
elseif op == 'renew' then
  if redis.call('HGET', held, ARGV[3] .. ':r') ~= ARGV[4] then return 0 end
  extend(ARGV[3])
elseif op == 'release' then
  remove(ARGV[3])
else
  local known, answer = {}, {}
  for i = 3, #ARGV, 2 do known[ARGV[i]] = ARGV[i + 1] end
  for _, owner in ipairs(redis.call('ZRANGE', ends, 0, -1)) do
    local revision = redis.call('HGET', held, owner .. ':r')
    if revision then
      answer[#answer + 1] = owner
      answer[#answer + 1] = revision
      answer[#answer + 1] = known[owner] ~= revision and redis.call('HGET', held, owner .. ':a') or false
    end
  end
  return answer
end
return 1`

const makeLeases = (send: Send, leaseMs: number): Leases => {
  const run = (chain: string, operation: string, ...values: ReadonlyArray<string | Buffer>) => {
    const key = keyOf(KIND, chain)
    return send("EVAL", LEASES_LUA, "2", `${key}:leases`, `${key}:leased`, operation, `${leaseMs}`, ...values)
  }
  return {
    lease: (chain, { accounts, owner, revision }) =>
      Effect.asVoid(run(chain, "lease", owner, `${revision}`, bufferOf(accounts))),
    renew: (chain, owner, revision) =>
      Effect.map(run(chain, "renew", owner, `${revision}`), (answer) => Number(answer) === 1),
    release: (chain, owner) => Effect.asVoid(run(chain, "release", owner)),
    leases: (chain, known) =>
      Effect.map(
        run(chain, "list", ...Array.from(known, ([owner, revision]) => [owner, `${revision}`]).flat()),
        (reply) => {
          const parts = reply as ReadonlyArray<Buffer | null>
          return new Map(
            Array.from({ length: parts.length / 3 }, (_, i) => [
              parts[3 * i]?.toString("latin1") ?? "",
              { revision: Number(parts[3 * i + 1]?.toString("latin1")), accounts: parts[3 * i + 2] ?? null }
            ])
          )
        }
      )
  }
}

/** The bus on the server at this address. The start does not wait for the server. */
export const layer = (url: string, bounds: AccountBusBounds = ACCOUNT_BOUNDS): Layer.Layer<AccountBus> =>
  Layer.effect(
    AccountBus,
    Effect.gen(function* () {
      const send = yield* makeConnection(url)
      const log = yield* makeValkeyLog({ ...bounds, url, kind: KIND, title: "bus of account writes" }, send)
      return makeAccountBus(log, makeLeases(send, bounds.leaseMs))
    })
  )
