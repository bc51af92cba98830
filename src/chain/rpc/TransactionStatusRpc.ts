import { Clock, Config, Duration, Effect, Layer, Option, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { CircuitBreaker } from "effect/persistence"
import type { Signature } from "../../domain/Signature.ts"
import type { TransactionReport } from "../../api/schemas/TransactionReport.ts"
import { durationSetting } from "../../domain/countSetting.ts"
import { counted, makeBreaker, retryOnce, usualBreaker, withDeadline } from "../../operations/protection.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import { NodeChoice } from "./NodeChoice.ts"
import { decodeAnswer, makeRpcCall } from "./rpcHttp.ts"
import { rpcSettings } from "./rpcSettings.ts"
import { failingOver } from "./SolanaRpcHttp.ts"
import { TransactionStatus, UnknownTransaction } from "./TransactionStatus.ts"
import { commitmentOf, SignatureStatus, TransactionFacts, transactionReport } from "./transactionReport.ts"

/** Settings given in code; they win over the environment. */
export interface StatusOptions {
  readonly rpcUrl?: string | undefined
  /** The deadline of one status, with all its requests. */
  readonly timeout?: Duration.Duration | undefined
}

const Statuses = Schema.Struct({ value: Schema.Tuple([Schema.NullOr(SignatureStatus)]) })
const decodeStatuses = decodeAnswer("getSignatureStatuses", Statuses)
const decodeFacts = decodeAnswer("getTransaction", Schema.NullOr(TransactionFacts))

/** The error code of a node without transaction history. */
const NO_HISTORY = -32011
/** Error codes of a node that does not have the details: no history, a newer transaction version, no such method. */
const NO_DETAILS: ReadonlySet<number | undefined> = new Set([NO_HISTORY, -32015, -32601])

/** `STATUS_TIMEOUT` (2 s): the deadline of one status. */
export const statusTimeout = durationSetting("STATUS_TIMEOUT").pipe(Config.withDefault(Duration.seconds(2)))

const make = Effect.fnUntraced(function* (options: StatusOptions) {
  const timeout = options.timeout ?? (yield* statusTimeout)
  const settings = yield* rpcSettings({ rpcUrl: options.rpcUrl, retries: 0 })
  const choice = new NodeChoice(settings.nodes)
  // Callers poll, so they do the waiting. Another node is asked while there is time.
  const once = yield* makeRpcCall(
    choice.hasOthers ? { ...settings, retries: 1, timeout: Duration.times(timeout, 0.4) } : settings,
    failingOver(choice)
  )
  const call = (method: string, params: ReadonlyArray<unknown>) => retryOnce(once(method, params))
  const guarded = yield* makeBreaker<ChainUnavailable>({
    ...usualBreaker,
    name: "transaction status",
    // One malformed answer says nothing about the health of the node.
    outcomeOf: (error) => (error.reason === "invalid" ? CircuitBreaker.ignored : counted(error)),
    rejection: (retryAfterMs) =>
      new ChainUnavailable({ reason: "unreachable", detail: "the circuit of the node is open", retryAfterMs })
  })

  const statuses = (signature: Signature, searchTransactionHistory: boolean) =>
    call("getSignatureStatuses", [[signature], { searchTransactionHistory }])

  const statusOf = (signature: Signature) =>
    statuses(signature, true).pipe(
      Effect.catchIf(
        ({ rpcCode }) => rpcCode === NO_HISTORY,
        () => statuses(signature, false)
      ),
      Effect.flatMap(decodeStatuses),
      Effect.map(({ value: [status] }) => status)
    )

  const factsOf = (signature: Signature) =>
    call("getTransaction", [
      signature,
      { commitment: "confirmed", encoding: "base64", maxSupportedTransactionVersion: 0 }
    ]).pipe(
      Effect.catchIf(
        ({ rpcCode }) => NO_DETAILS.has(rpcCode),
        () => Effect.succeed(null)
      ),
      Effect.flatMap(decodeFacts)
    )

  const ask = Effect.fnUntraced(function* (
    signature: Signature
  ): Effect.fn.Return<Option.Option<TransactionReport>, ChainUnavailable> {
    const status = yield* statusOf(signature)
    if (status === null) {
      return Option.none()
    }
    const observedAtMs = yield* Clock.currentTimeMillis
    // Nodes show whole transactions only from `confirmed` on.
    const facts = commitmentOf(status) === "processed" ? null : yield* factsOf(signature)
    return Option.some(transactionReport(signature, status, facts, observedAtMs))
  })

  const find = Effect.fn("TransactionStatus.find")(function* (signature: Signature) {
    const answer = yield* ask(signature).pipe(
      withDeadline(timeout),
      Effect.catchTag("UpstreamFailure", ({ detail }) =>
        Effect.fail(new ChainUnavailable({ reason: "timeout", detail }))
      ),
      guarded
    )
    return yield* Option.match(answer, {
      onNone: () => Effect.fail(new UnknownTransaction({ signature })),
      onSome: Effect.succeed
    })
  })

  return TransactionStatus.of({ find })
})

/** Reads from the nodes at `SOLANA_RPC_URL`, or of the options, each status within `STATUS_TIMEOUT` (2 s). */
export const layer = (
  options: StatusOptions = {}
): Layer.Layer<TransactionStatus, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.effect(TransactionStatus, make(options))
