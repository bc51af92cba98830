import { Clock, Duration, Effect, Option, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AccountStore } from "../../access/accounts/AccountStore.ts"
import { canonicalBlock } from "../../access/ipPolicy.ts"
import type { IssuedKey, KeyChanges } from "../../access/keyRules.ts"
import { KeyStore } from "../../access/KeyStore.ts"
import {
  type AuditQuery,
  type ChangeKeyBody,
  type CreateKeyBody,
  defaults,
  ManagedKey,
  NewKey,
  type RotateKeyBody
} from "../../api/AccountKeys.ts"
import { Api } from "../../api/Api.ts"
import { type InvalidRequest, KeyNotFound, LimitReached, OwnerRequired } from "../../api/errors/problems.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { type ApiKey, type ApiScope, MAX_ACTIVE_KEYS, overlap, type TooManyKeys } from "../../api/schemas/ApiKey.ts"
import type { KeyActor } from "../../api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN } from "../../api/schemas/Plan.ts"
import { callerAddress } from "../middleware/clientAddress.ts"
import { invalid, storeUnavailable } from "../problems.ts"
import { Settings } from "../Settings.ts"
import { metaWith } from "./metaWith.ts"
import { nextOf, startOf } from "./paging.ts"

const wireKey = ({ accountId: _accountId, plan, replacedBy: _replacedBy, ...key }: ApiKey): ManagedKey =>
  ManagedKey.make({ ...key, plan: plan.name })

const wireNewKey = ({ key, secret }: IssuedKey): NewKey =>
  NewKey.make({ key: wireKey(key), secret: Redacted.value(secret) })

/** These scopes and `md.read`, each once. */
const withReads = (scopes: ReadonlyArray<ApiScope>): ReadonlyArray<ApiScope> =>
  Array.from(new Set<ApiScope>(["md.read", ...scopes]))

/** The blocks in their stored form. Fails with a 400 for a malformed block. */
const policyOf = (blocks: ReadonlyArray<string> | null): Effect.Effect<ReadonlyArray<string> | null, InvalidRequest> =>
  blocks === null
    ? Effect.succeed(null)
    : Effect.forEach(blocks, (block, at) =>
        Option.match(canonicalBlock(block), {
          onNone: () => {
            const field = `ipPolicy[${at}]`
            return Effect.fail(
              invalid({ in: "body", field, issue: "format" }, `${field} must be an address or a CIDR block.`)
            )
          },
          onSome: (canonical) => Effect.succeed(canonical)
        })
      )

/** Rejects a time in the past. */
const aheadOf = (nowMs: number, expiresAtMs: number | null): Effect.Effect<number | null, InvalidRequest> =>
  expiresAtMs === null || expiresAtMs > nowMs
    ? Effect.succeed(expiresAtMs)
    : Effect.fail(
        invalid(
          { in: "body", field: "expiresAtMs", issue: "out_of_range" },
          "expiresAtMs must be in the future, or null for never."
        )
      )

/** A 400 for a plan that does not exist. */
const unknownPlan = (): InvalidRequest =>
  invalid({ in: "body", field: "plan", issue: "unknown" }, "plan must be one of GET /api/v1/account/plans.")

/** Reads the changes from a body and checks their values. */
const changesOf = Effect.fnUntraced(function* (
  body: typeof ChangeKeyBody.Type,
  nowMs: number
): Effect.fn.Return<KeyChanges, InvalidRequest> {
  const { expiresAtMs, ipPolicy, scopes, ...rest } = body
  return {
    ...rest,
    ...(scopes !== undefined && { scopes: withReads(scopes) }),
    ...(ipPolicy !== undefined && { ipPolicy: yield* policyOf(ipPolicy) }),
    ...(expiresAtMs !== undefined && { expiresAtMs: yield* aheadOf(nowMs, expiresAtMs) })
  }
})

interface OfKey {
  readonly params: { readonly id: string }
  readonly request: HttpServerRequest.HttpServerRequest
}

const problems = {
  KeyStoreUnavailable: storeUnavailable("The key store is unavailable", "Keys are unavailable: try again."),
  KeyNotFound: () => Effect.fail(new KeyNotFound()),
  TooManyKeys: ({ limit }: TooManyKeys) =>
    Effect.fail(
      new LimitReached({ error: { message: `The account has ${limit} active keys: revoke or disable one first.` } })
    ),
  PlanNotFound: () => Effect.fail(unknownPlan())
}
const { KeyNotFound: notFound, KeyStoreUnavailable: unavailable, PlanNotFound: noPlan, TooManyKeys: full } = problems

const accountsUnavailable = storeUnavailable("The account store is unavailable", "Accounts are unavailable: try again.")

const PLACE = /^\d{1,15}$/u

export const layer = HttpApiBuilder.group(
  Api,
  "accountKeys",
  Effect.fnUntraced(function* (handlers) {
    const keys = yield* KeyStore
    const accounts = yield* AccountStore
    const { trustedHops } = yield* Settings

    const actorOf = (request: HttpServerRequest.HttpServerRequest) =>
      Effect.map(CurrentKey, ({ accountId }): KeyActor => ({
        kind: "session",
        accountId,
        address: callerAddress(request, trustedHops)
      }))

    /** Rejects a choice of plan unless the account is an owner. */
    const mayChoose = Effect.fnUntraced(function* (plan: string | undefined) {
      if (plan === undefined || plan === DEFAULT_PLAN.name) {
        return
      }
      const { accountId } = yield* CurrentKey
      const account = yield* accounts
        .find(accountId)
        .pipe(Effect.catchTag("AccountStoreUnavailable", accountsUnavailable))
      if (account?.role !== "owner") {
        return yield* new OwnerRequired()
      }
    })

    const list = Effect.fnUntraced(function* () {
      const { accountId } = yield* CurrentKey
      const all = yield* keys.list(accountId).pipe(Effect.catchTag("KeyStoreUnavailable", unavailable))
      return { data: all.map(wireKey), meta: yield* metaWith({ limit: MAX_ACTIVE_KEYS }) }
    })

    const create = Effect.fnUntraced(function* (input: {
      readonly payload: typeof CreateKeyBody.Type
      readonly request: HttpServerRequest.HttpServerRequest
    }) {
      const { expiresAtMs = null, ipPolicy = null, name, plan, scopes = [] } = input.payload
      const by = yield* actorOf(input.request)
      const request = {
        accountId: by.accountId ?? "",
        name,
        scopes: withReads(scopes),
        ipPolicy: yield* policyOf(ipPolicy),
        plan,
        expiresAtMs: yield* aheadOf(yield* Clock.currentTimeMillis, expiresAtMs)
      }
      yield* mayChoose(plan)
      const issued = yield* keys
        .issue(request, by)
        .pipe(Effect.catchTags({ KeyStoreUnavailable: unavailable, PlanNotFound: noPlan, TooManyKeys: full }))
      return wireNewKey(issued)
    })

    const change = Effect.fnUntraced(function* (input: OfKey & { readonly payload: typeof ChangeKeyBody.Type }) {
      const changes = yield* changesOf(input.payload, yield* Clock.currentTimeMillis)
      yield* mayChoose(changes.plan)
      const by = yield* actorOf(input.request)
      return wireKey(yield* keys.change(input.params.id, changes, by).pipe(Effect.catchTags(problems)))
    })

    const rotate = Effect.fnUntraced(function* (input: OfKey & { readonly payload: typeof RotateKeyBody.Type }) {
      const { overlapSeconds = overlap.byDefault } = input.payload
      const by = yield* actorOf(input.request)
      const issued = yield* keys
        .rotate(input.params.id, Duration.toMillis(Duration.seconds(overlapSeconds)), by)
        .pipe(Effect.catchTags({ KeyStoreUnavailable: unavailable, KeyNotFound: notFound, TooManyKeys: full }))
      return wireNewKey(issued)
    })

    const closing = (verb: "revoke" | "disable") =>
      Effect.fnUntraced(function* ({ params, request }: OfKey) {
        const closed = keys[verb](params.id, yield* actorOf(request))
        return wireKey(
          yield* closed.pipe(Effect.catchTags({ KeyStoreUnavailable: unavailable, KeyNotFound: notFound }))
        )
      })

    const enable = Effect.fnUntraced(function* ({ params, request }: OfKey) {
      const enabled = keys.enable(params.id, yield* actorOf(request))
      return wireKey(
        yield* enabled.pipe(
          Effect.catchTags({ KeyStoreUnavailable: unavailable, KeyNotFound: notFound, TooManyKeys: full })
        )
      )
    })

    const audit = Effect.fnUntraced(function* ({ query }: { readonly query: typeof AuditQuery.Type }) {
      const { accountId } = yield* CurrentKey
      const selectors = ["account.audit", accountId]
      const before = yield* startOf(query.cursor, selectors, ([place = ""]) =>
        PLACE.test(place) ? Number(place) : null
      )
      const { next, rows } = yield* keys
        .audit(accountId, { limit: query.limit ?? defaults.audit, before })
        .pipe(Effect.catchTag("KeyStoreUnavailable", unavailable))
      const nextCursor = yield* nextOf(next === null ? null : [String(next)], selectors)
      return { data: rows, nextCursor, meta: yield* metaWith({}) }
    })

    const plans = Effect.fnUntraced(function* () {
      const data = yield* keys.plans.pipe(Effect.catchTag("KeyStoreUnavailable", unavailable))
      return { data, meta: yield* metaWith({}) }
    })

    return handlers.handleAll({
      list,
      create,
      change,
      rotate,
      revoke: closing("revoke"),
      disable: closing("disable"),
      enable,
      audit,
      plans
    })
  })
)
