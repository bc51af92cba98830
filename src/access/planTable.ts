/** The table `plans`, as queries. `default` is a constant without a row. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { DEFAULT_PLAN, Plan, PlanInUse, PlanNotFound } from "../api/schemas/Plan.ts"

/** SQL of the plan of a row that is joined with `plans`; null without a plan. */
export const PLAN_OF_ROW = `
  case when plans.name is not null then json_build_object(
    'name', plans.name, 'rest', rest, 'quote', quote, 'windowSeconds', window_seconds, 'streams', streams,
    'sockets', sockets, 'trackedWallets', tracked_wallets, 'alerts', alerts, 'exports', exports
  ) end as plan
`

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Plan))

/** The queries. Changes run in a transaction. */
export const makePlanTable = (sql: SqlClient.SqlClient) => ({
  /** Every plan: `default`, then the others by name. */
  all: Effect.map(Effect.flatMap(sql`select * from plans order by name`, decodeRows), (rows): ReadonlyArray<Plan> => [
    DEFAULT_PLAN,
    ...rows
  ]),

  /** The plan with this name. Nobody can remove it before the transaction ends. */
  hold: Effect.fnUntraced(function* (name: string) {
    if (name === DEFAULT_PLAN.name) {
      return DEFAULT_PLAN
    }
    const [plan] = yield* decodeRows(yield* sql`select * from plans where name = ${name} for key share`)
    return plan ?? (yield* new PlanNotFound({ name }))
  }),

  /** The plan with this name, locked until the transaction ends; null when there is none. */
  before: Effect.fnUntraced(function* (name: string) {
    const [plan] = yield* decodeRows(yield* sql`select * from plans where name = ${name} for update`)
    return plan ?? null
  }),

  set: Effect.fnUntraced(function* ({ name, ...limits }: Plan) {
    yield* sql`
      insert into plans ${sql.insert({ name, ...limits })}
      on conflict (name) do update set ${sql.update(limits)}
    `
    return Plan.make({ name, ...limits })
  }),

  /** Removes a plan unless a key has it. Revoked keys do not count. */
  remove: Effect.fnUntraced(function* (name: string) {
    const [plan] = yield* decodeRows(yield* sql`delete from plans where name = ${name} returning *`)
    if (plan === undefined) {
      return yield* new PlanNotFound({ name })
    }
    const users = yield* sql`select 1 from api_keys where plan = ${name} and revoked_at is null limit 1`
    return users.length === 0 ? plan : yield* new PlanInUse({ name })
  })
})
