/** Budgets that the processes of a service share: at most `limit` units in any window, whichever process admits them. */
import { Clock, type Config, Context, Effect, Layer } from "effect"
import {
  BudgetExceeded,
  type BudgetName,
  type BudgetTerms,
  type Caller,
  LimiterUnavailable,
  termsOf
} from "../api/schemas/Budget.ts"
import { Readings } from "../operations/Readings.ts"
import { type LateCharge, type LogState, sharedLogs } from "../storage/valkey/SharedLogs.ts"
import { Valkey, type ValkeyUnavailable, whenDown } from "../storage/valkey/Valkey.ts"
import { RateLimiter, stateOf } from "./RateLimiter.ts"

type Limiter = RateLimiter["Service"]

const noStates: LogState = { remaining: 0, resetInMs: 0, fitsInMs: 0 }

/** The caller with the limits of one process: an equal share of each limit, at least one unit. */
const sharer = ({ id, plan }: Caller, processes: number): Caller => ({
  id,
  plan: {
    ...plan,
    rest: Math.max(1, Math.floor(plan.rest / processes)),
    quote: Math.max(1, Math.floor(plan.quote / processes))
  }
})

const requestOf = (key: string, budget: BudgetName, { limit, windowMs }: BudgetTerms, cost: number) => ({
  log: `fathom:{${key}}:${budget}`,
  limit,
  windowMs,
  cost
})

/** Charges of the shared logs. The server's clock measures the windows. The times in a state follow this process's clock. */
const makeShared = Effect.gen(function* () {
  const logs = yield* sharedLogs

  const admit = Effect.fnUntraced(function* ({ budget, cost, key }: Parameters<Limiter["admit"]>[0], late: LateCharge) {
    const terms = termsOf(key.plan, budget)
    const { isAdmitted, seq, states } = yield* logs.admit([requestOf(key.id, budget, terms, cost)], late)
    const atMs = yield* Clock.currentTimeMillis
    const [log = noStates] = states
    const state = stateOf(budget, terms, log, atMs)
    if (isAdmitted) {
      return { ...state, key: key.id, cost, atMs, seq }
    }
    const { limit, remaining, windowMs } = state
    const fitsAtMs = Math.ceil(atMs + log.fitsInMs)
    return yield* new BudgetExceeded({ budget, cost, limit, windowMs, remaining, fitsAtMs })
  })

  const refund = Effect.fnUntraced(function* ({
    budget,
    cost,
    key,
    limit,
    seq,
    windowMs
  }: Parameters<Limiter["refund"]>[0]) {
    const terms = { limit, windowMs }
    const [log = noStates] = yield* logs.refund(seq, requestOf(key, budget, terms, cost))
    return stateOf(budget, terms, log, yield* Clock.currentTimeMillis)
  })

  const peek = Effect.fnUntraced(function* (key: Caller, budget: BudgetName) {
    const terms = termsOf(key.plan, budget)
    const [log = noStates] = yield* logs.peek(requestOf(key.id, budget, terms, 0))
    return stateOf(budget, terms, log, yield* Clock.currentTimeMillis)
  })

  return { admit, refund, peek }
})

const away = ({ cause }: ValkeyUnavailable) => Effect.fail(new LimiterUnavailable({ cause }))

/**
 * The shared logs, with one script per admission. A late answer is waited for. While Valkey is away,
 * `BUDGET_STORE_DOWN` decides. `local` admits from an exact log in this process, up to an equal share of each limit.
 * `refuse` fails with `LimiterUnavailable`. The local logs are separate from the shared ones, so a window in which
 * Valkey goes away or comes back may hold up to twice the limit.
 */
export const layer: Layer.Layer<RateLimiter, Config.ConfigError, Valkey> = Layer.effect(
  RateLimiter,
  Effect.gen(function* () {
    const valkey = yield* Valkey
    const shared = yield* makeShared
    const local = Context.get(yield* Layer.build(RateLimiter.layerMemory), RateLimiter)
    const isLocal = (yield* whenDown) === "local"
    let decisions = 0
    yield* (yield* Readings).report(
      {
        name: "fathom_budget_local_decisions_total",
        help: "Admissions that this process decided alone because Valkey was away.",
        kind: "counter"
      },
      () => decisions
    )

    return RateLimiter.of({
      isImmediate: false,
      admit: (request) => {
        if (!Number.isSafeInteger(request.cost) || request.cost < 0) {
          return Effect.die(new RangeError(`a cost is a whole number of units, not ${request.cost}`))
        }
        return Effect.suspend(() => {
          let isAdmittedAlone = false
          // When Valkey makes the charge late, the charge stays there if this process has admitted the request
          // meanwhile.
          const late: LateCharge = { stands: () => isAdmittedAlone }
          return Effect.catchTag(shared.admit(request, late), "ValkeyUnavailable", (error) => {
            if (!isLocal) {
              return away(error)
            }
            decisions++
            return Effect.map(local.admit({ ...request, key: sharer(request.key, valkey.processes()) }), (charge) => {
              isAdmittedAlone = true
              // Charges of this process get negative numbers, so that `refund` knows them.
              return { ...charge, seq: -charge.seq }
            })
          })
        })
      },
      refund: (charge) =>
        charge.seq < 0
          ? local.refund({ ...charge, seq: -charge.seq })
          : Effect.catchTag(shared.refund(charge), "ValkeyUnavailable", away),
      peek: (key, budget) =>
        Effect.catchTag(shared.peek(key, budget), "ValkeyUnavailable", (error) =>
          isLocal ? local.peek(sharer(key, valkey.processes()), budget) : away(error)
        )
    })
  })
)
