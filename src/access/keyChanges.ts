/** Changes of keys in Postgres, each with its audit entry and its announcement. The caller runs each in a transaction. */
import { Clock, Effect, type Redacted, type Result } from "effect"
import type { SqlClient } from "effect/sql"
import { type ApiKey, isActive, type KeyNotFound, MAX_ACTIVE_KEYS } from "../api/schemas/ApiKey.ts"
import type { KeyAction, KeyActor } from "../api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN, type Plan } from "../api/schemas/Plan.ts"
import type { ChangeChannel } from "../storage/ChangeChannel.ts"
import { makeAuditTable } from "./auditTable.ts"
import * as Rules from "./keyRules.ts"
import { type HashRewrite, makeKeyTable, type NewKey } from "./keyTable.ts"
import { makePlanTable } from "./planTable.ts"

/** Source of ids and secrets. */
export interface KeyMint {
  readonly id: () => string
  readonly secret: () => {
    readonly secret: Redacted.Redacted
    readonly stored: Pick<ApiKey, "prefix" | "lastFour"> & Pick<NewKey, "secretHash" | "pepperId">
  }
}

type Insertion = Pick<ApiKey, "id" | "accountId" | "name" | "scopes" | "ipPolicy" | "expiresAtMs"> & {
  readonly plan: Plan
}

interface Change {
  readonly action: KeyAction
  readonly by: KeyActor
  readonly nowMs: number
  readonly detail?: string
}

/** The message that announces a changed key on the change channel. */
const subjectOf = (key: ApiKey, nowMs: number): string =>
  `${key.revokedAtMs !== null ? "revoked" : isActive(key, nowMs) ? "open" : "closed"} ${key.id}`

export const makeKeyChanges = (sql: SqlClient.SqlClient, channel: ChangeChannel["Service"], mint: KeyMint) => {
  const table = makeKeyTable(sql)
  const plans = makePlanTable(sql)
  const audit = makeAuditTable(sql)

  /** Stores a new key. The caller has claimed a place for it. */
  const insert = Effect.fnUntraced(function* (
    { plan, ...request }: Insertion,
    { by, detail = null, nowMs }: Omit<Change, "action" | "detail"> & { readonly detail?: string | null }
  ) {
    const { secret, stored } = mint.secret()
    const key = yield* table.insert({ ...request, ...stored, createdAtMs: nowMs, plan: plan.name })
    yield* audit.add({ key, action: "create", by, atMs: nowMs, detail })
    return { key, secret }
  })

  const hold = Effect.fnUntraced(function* (id: string, by: KeyActor) {
    return yield* Effect.fromResult(Rules.reachable(yield* table.hold(id), by))
  })

  /** Stores the new state of a held key. A key that becomes active needs a place. */
  const store = Effect.fnUntraced(function* (
    before: ApiKey,
    after: ApiKey,
    { action, by, detail = null, nowMs }: Omit<Change, "detail"> & { readonly detail?: string | null }
  ) {
    if (isActive(after, nowMs) && !isActive(before, nowMs)) {
      yield* table.claimPlace(before.accountId, MAX_ACTIVE_KEYS, nowMs)
    }
    const saved = yield* table.save(before, after)
    if (saved !== null) {
      yield* audit.add({ key: saved, action, by, atMs: nowMs, detail })
    }
    const key = saved ?? before
    yield* channel.announce("keys", subjectOf(key, nowMs))
    return key
  })

  return {
    /**
     * Moves hashes to the pepper with this id. Every process then looks those keys up again, and notes hashes that are
     * not under its own pepper.
     */
    rewriteHashes: (batch: ReadonlyArray<HashRewrite>, pepperId: string) => sql`
      with changed as (${table.rewriteHashes(batch, pepperId)})
      select ${channel.announcing("keys", sql`'open ' || id`)} from changed
    `,

    issue: Effect.fnUntraced(function* (
      { expiresAtMs = null, plan = DEFAULT_PLAN.name, ...request }: Rules.KeyRequest,
      by: KeyActor
    ) {
      const nowMs = yield* Clock.currentTimeMillis
      yield* table.claimPlace(request.accountId, MAX_ACTIVE_KEYS, nowMs)
      return yield* insert(
        { ...request, id: mint.id(), plan: yield* plans.hold(plan), expiresAtMs: expiresAtMs },
        { by, nowMs }
      )
    }),

    /** Changes a key as the rule says, in one audited step. */
    decide: Effect.fnUntraced(function* (
      id: string,
      { action, by }: Pick<Change, "action" | "by">,
      rule: (key: ApiKey, nowMs: number) => Result.Result<ApiKey, KeyNotFound>
    ) {
      const nowMs = yield* Clock.currentTimeMillis
      const before = yield* hold(id, by)
      return yield* store(before, yield* Effect.fromResult(rule(before, nowMs)), { action, by, nowMs })
    }),

    /** Revokes a key again that an older copy of the database does not know as revoked. It keeps its first audit entry. */
    revokeAgain: Effect.fnUntraced(function* (id: string, atMs: number) {
      const before = yield* table.hold(id)
      if (before !== null && before.revokedAtMs === null) {
        yield* table.save(before, { ...before, revokedAtMs: atMs })
        yield* channel.announce("keys", `revoked ${id}`)
      }
    }),

    edit: Effect.fnUntraced(function* (id: string, changes: Rules.KeyChanges, by: KeyActor) {
      const nowMs = yield* Clock.currentTimeMillis
      const before = yield* hold(id, by)
      const plan = changes.plan === undefined ? null : yield* plans.hold(changes.plan)
      const after = yield* Effect.fromResult(Rules.edited(before, changes, plan))
      return yield* store(before, after, { action: "change", by, nowMs, detail: Rules.changedFields(changes) })
    }),

    /** Returns the old key, and the new one with its secret. */
    rotate: Effect.fnUntraced(function* (id: string, overlapMs: number, by: KeyActor) {
      const nowMs = yield* Clock.currentTimeMillis
      const before = yield* hold(id, by)
      const newId = mint.id()
      const after = yield* Effect.fromResult(Rules.rotated(before, { newId, overlapMs, nowMs }))
      const old = yield* store(before, after, { action: "rotate", by, nowMs, detail: newId })
      yield* table.claimPlace(before.accountId, MAX_ACTIVE_KEYS + 1, nowMs)
      const { accountId, ipPolicy, name, plan, scopes } = before
      const expiresAtMs = Rules.renewedExpiry(before, nowMs)
      const issued = yield* insert(
        { id: newId, accountId, name, scopes, ipPolicy, plan, expiresAtMs },
        { by, nowMs, detail: `in place of ${id}` }
      )
      return { old, issued }
    }),

    /**
     * Makes or replaces a plan. Every process then reads its keys again. A plan that stays the same is not recorded.
     */
    setPlan: Effect.fnUntraced(function* (plan: Plan, { kind: actor }: KeyActor) {
      const before = yield* plans.before(plan.name)
      const after = yield* plans.set(plan)
      const detail = Rules.planDetail(before, after)
      if (detail !== "") {
        const atMs = yield* Clock.currentTimeMillis
        yield* audit.addPlan({ atMs, actor, action: before === null ? "create" : "change", plan: plan.name, detail })
      }
      yield* channel.announce("keys", `plan ${plan.name}`)
      return after
    }),

    removePlan: Effect.fnUntraced(function* (name: string, { kind: actor }: KeyActor) {
      const plan = yield* plans.remove(name)
      const atMs = yield* Clock.currentTimeMillis
      yield* audit.addPlan({ atMs, actor, action: "remove", plan: name, detail: Rules.planDetail(null, plan) })
      yield* channel.announce("keys", `plan ${name}`)
      return plan
    })
  }
}
