/** Requests of key management in terms of the key store, and keys in terms of the contract. */
import { Effect, Option, Redacted } from "effect"
import { canonicalBlock } from "../../access/ipPolicy.ts"
import type { IssuedKey, KeyChanges } from "../../access/keyRules.ts"
import { type ChangeKeyBody, ManagedKey, NewKey } from "../../api/account/AccountKeys.ts"
import type { InvalidRequest } from "../../api/problems.ts"
import type { ApiKey, ApiScope } from "../../domain/ApiKey.ts"
import { invalid } from "../problems.ts"

/** The key on the wire. */
export const wireKey = ({ accountId: _accountId, plan, replacedBy: _replacedBy, ...key }: ApiKey): ManagedKey =>
  ManagedKey.make({ ...key, plan: plan.name })

/** A new key on the wire, with its secret. */
export const wireNewKey = ({ key, secret }: IssuedKey): NewKey =>
  NewKey.make({ key: wireKey(key), secret: Redacted.value(secret) })

/** These scopes and `md.read`, each once. */
export const withReads = (scopes: ReadonlyArray<ApiScope>): ReadonlyArray<ApiScope> =>
  Array.from(new Set<ApiScope>(["md.read", ...scopes]))

/** The blocks in the form that is stored. */
export const policyOf = (
  blocks: ReadonlyArray<string> | null
): Effect.Effect<ReadonlyArray<string> | null, InvalidRequest> =>
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

/** Refuses a time that has passed. */
export const aheadOf = (nowMs: number, expiresAtMs: number | null): Effect.Effect<number | null, InvalidRequest> =>
  expiresAtMs === null || expiresAtMs > nowMs
    ? Effect.succeed(expiresAtMs)
    : Effect.fail(
        invalid(
          { in: "body", field: "expiresAtMs", issue: "out_of_range" },
          "expiresAtMs must lie ahead, or be null for never."
        )
      )

/** The 400 of a plan that does not exist. */
export const unknownPlan = (): InvalidRequest =>
  invalid({ in: "body", field: "plan", issue: "unknown" }, "plan must be one of GET /api/v1/account/plans.")

/** The changes of a body. */
export const changesOf = Effect.fnUntraced(function* (
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
