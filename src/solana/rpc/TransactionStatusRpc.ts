import { Cause, Clock, Config, Duration, Effect, Exit, Layer, Option, Schedule, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { CircuitBreaker } from "effect/persistence"
import type { Signature } from "../../domain/Signature.ts"
import type { TransactionReport } from "../../domain/TransactionReport.ts"
import { ChainUnavailable } from "../accounts/ChainFeed.ts"
import { makeRpcCall } from "./rpcHttp.ts"
import { rpcSettings } from "./rpcSettings.ts"
import { TransactionStatus, UnknownTransaction } from "./TransactionStatus.ts"
import { commitmentOf, SignatureStatus, TransactionFacts, transactionReport } from "./transactionReport.ts"

/** How the status of transactions is asked for. What is given wins over the environment. */
export interface StatusOptions {
  readonly rpcUrl?: string | undefined
  /** How long a whole answer may take, however many requests it needs. */
  readonly timeout?: Duration.Duration | undefined
}

const Statuses = Schema.Struct({ value: Schema.Tuple([Schema.NullOr(SignatureStatus)]) })
const decodeStatuses = Schema.decodeUnknownEffect(Statuses)
const decodeFacts = Schema.decodeUnknownEffect(Schema.NullOr(TransactionFacts))

/** A node that keeps no history says so by this code. */
const NO_HISTORY = -32011
/** Codes by which a node says that it cannot tell more: no history, a newer kind of transaction, no such method. */
const CANNOT_TELL: ReadonlySet<number | undefined> = new Set([NO_HISTORY, -32015, -32601])

/** Failures in a row after which the node is left alone, at first for a second and never for much longer than 30. */
const FAILURES = 5
const REST = Schedule.exponential("1 second").pipe(Schedule.upTo({ duration: "30 seconds" }))

const invalid = (method: string) => () =>
  new ChainUnavailable({ reason: "invalid", detail: `${method}: an unexpected answer` })

type Answer = Option.Option<TransactionReport>

// One transaction that a node spells oddly says nothing about how the node fares.
const outcomeOf = (exit: Exit.Exit<Answer, ChainUnavailable>): CircuitBreaker.Outcome => {
  if (Exit.isSuccess(exit)) {
    return CircuitBreaker.success
  }
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  return error?.reason === "invalid"
    ? CircuitBreaker.ignored
    : CircuitBreaker.failure({ retryAfter: error?.retryAfterMs })
}

const leftAlone = ({ reason }: CircuitBreaker.CircuitBreakerError): ChainUnavailable =>
  new ChainUnavailable({
    reason: "unreachable",
    detail: "the node is left alone for a while",
    retryAfterMs: reason._tag === "CircuitOpen" ? Duration.toMillis(reason.retryAfter) : 1000
  })

const statusTimeout = Config.Duration("STATUS_TIMEOUT").pipe(Config.withDefault(Duration.seconds(2)))

const make = Effect.fnUntraced(function* (options: StatusOptions) {
  const timeout = options.timeout ?? (yield* statusTimeout)
  // Callers poll, so the waiting is theirs. Only a node that could not be reached is worth a second try.
  const once = yield* makeRpcCall(yield* rpcSettings({ rpcUrl: options.rpcUrl, retries: 0 }))
  const call = (method: string, params: ReadonlyArray<unknown>) =>
    once(method, params).pipe(Effect.retry({ times: 1, while: ({ reason }) => reason === "unreachable" }))
  const breaker = yield* CircuitBreaker.make({ tripPolicy: CircuitBreaker.consecutive(FAILURES), openDuration: REST })

  const statuses = (signature: Signature, searchTransactionHistory: boolean) =>
    call("getSignatureStatuses", [[signature], { searchTransactionHistory }])

  const statusOf = (signature: Signature) =>
    statuses(signature, true).pipe(
      Effect.catchIf(
        ({ rpcCode }) => rpcCode === NO_HISTORY,
        () => statuses(signature, false)
      ),
      Effect.flatMap((result) => Effect.mapError(decodeStatuses(result), invalid("getSignatureStatuses"))),
      Effect.map(({ value: [status] }) => status)
    )

  const factsOf = (signature: Signature) =>
    call("getTransaction", [
      signature,
      { commitment: "confirmed", encoding: "base64", maxSupportedTransactionVersion: 0 }
    ]).pipe(
      Effect.catchIf(
        ({ rpcCode }) => CANNOT_TELL.has(rpcCode),
        () => Effect.succeed(null)
      ),
      Effect.flatMap((result) => Effect.mapError(decodeFacts(result), invalid("getTransaction")))
    )

  const ask = Effect.fnUntraced(function* (signature: Signature): Effect.fn.Return<Answer, ChainUnavailable> {
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
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () =>
          Effect.fail(new ChainUnavailable({ reason: "timeout", detail: `no status in ${Duration.format(timeout)}` }))
      }),
      breaker.execute({ key: "solana", classify: outcomeOf }),
      Effect.mapError((error) => (error._tag === "ChainUnavailable" ? error : leftAlone(error)))
    )
    return yield* Option.match(answer, {
      onNone: () => Effect.fail(new UnknownTransaction({ signature })),
      onSome: Effect.succeed
    })
  })

  return TransactionStatus.of({ find })
})

/** Asks the node at `SOLANA_RPC_URL`, or the one the options name, and answers within `STATUS_TIMEOUT` (2 s). */
export const layer = (
  options: StatusOptions = {}
): Layer.Layer<TransactionStatus, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.effect(TransactionStatus, make(options)).pipe(Layer.provide(CircuitBreaker.layerStoreMemory()))
