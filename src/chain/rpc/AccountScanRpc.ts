import { type Config, Duration, Effect, Layer, Redacted, Schema, Stream } from "effect"
import { type HttpClient, HttpClientRequest } from "effect/http"
import { Address } from "../../domain/Address.ts"
import { unlessSilent, withDeadline } from "../../operations/protection.ts"
import { makeReadingExchange } from "../../operations/upstreamHttp.ts"
import { UnusableText } from "../../operations/boundedText.ts"
import { blockCommitment } from "../Commitment.ts"
import { NodeChoice } from "./NodeChoice.ts"
import { decodeAnswer, failedCall, isOfNode, resultOf } from "./rpcHttp.ts"
import { type RpcOptions, rpcSettings } from "./rpcSettings.ts"
import { filtersOf } from "./SolanaRpcHttp.ts"
import { bytesFromBase64, Slot } from "./accountJson.ts"
import { AccountScan, type ScanEnd, type ScanQuery } from "./AccountScan.ts"
import type { ChainUnavailable } from "../ChainUnavailable.ts"
import { ListElements } from "./listElements.ts"

const METHOD = "getProgramAccounts"
/** A scan may take this many times the longest silence: half an hour by default. */
const MOST_SILENCES = 90
/** The most bytes of one account as JSON. */
const MOST_ACCOUNT = 65_536

type Visit = (data: Uint8Array, address: Address) => boolean

const decodeEnvelope = decodeAnswer(
  METHOD,
  Schema.Struct({ context: Schema.Struct({ slot: Slot }), value: Schema.Tuple([]) })
)
const decodeElement = Schema.decodeUnknownSync(
  Schema.Struct({
    pubkey: Address,
    account: Schema.Struct({ data: Schema.Tuple([Schema.String, Schema.Literal("base64")]) })
  })
)

/** The address and the data of one element. Throws when the element is not an account with `length` bytes. */
const accountOf = (element: string, length: number): { readonly address: Address; readonly data: Uint8Array } => {
  const { account, pubkey } = decodeElement(JSON.parse(element))
  const data = bytesFromBase64(account.data[0])
  if (data === null || data.length !== length) {
    throw new RangeError("an account with fewer bytes than requested")
  }
  return { address: pubkey, data }
}

/**
 * Reads the body and visits its accounts. Returns the text without the accounts, or null when the visitor ended the
 * scan. Calls `heard` for each chunk.
 */
const reading =
  ({ slice }: ScanQuery, visit: Visit, heard: () => void) =>
  <E>(bytes: Stream.Stream<Uint8Array, E>): Effect.Effect<string | null, E | UnusableText> =>
    Effect.suspend(() => {
      const state = { isEnded: false }
      const elements = new ListElements({
        property: "value",
        mostBytes: MOST_ACCOUNT,
        visit: (element) => {
          if (!state.isEnded) {
            const { address, data } = accountOf(element, slice.length)
            state.isEnded = !visit(data, address)
          }
        }
      })
      return bytes.pipe(
        Stream.mapEffect((chunk) =>
          Effect.try({
            try: () => {
              heard()
              elements.add(chunk)
            },
            catch: () => new UnusableText({ detail: "an answer in an unknown form" })
          })
        ),
        Stream.takeUntil(() => state.isEnded),
        Stream.runDrain,
        Effect.map(() => (state.isEnded ? null : elements.rest()))
      )
    })

const make = Effect.fnUntraced(function* (options: RpcOptions) {
  const settings = yield* rpcSettings(options)
  const exchange = yield* makeReadingExchange
  const choice = new NodeChoice(settings.nodes)
  const commitment = blockCommitment(settings.commitment)

  const scan = Effect.fn("AccountScan.scan")(function* (query: ScanQuery, visit: Visit) {
    const node = choice.current
    const wanted = {
      commitment,
      encoding: "base64",
      withContext: true,
      filters: filtersOf(query),
      dataSlice: query.slice,
      ...(query.minSlot > 0 && { minContextSlot: query.minSlot })
    }
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: METHOD, params: [query.programId, wanted] })
    const request = HttpClientRequest.bodyText(
      HttpClientRequest.post(Redacted.value(node.rpcUrl)),
      body,
      "application/json"
    )
    return yield* unlessSilent(settings.scanTimeout, (heard) => exchange(request, reading(query, visit, heard))).pipe(
      withDeadline(Duration.times(settings.scanTimeout, MOST_SILENCES)),
      Effect.mapError(failedCall(METHOD)),
      Effect.flatMap((rest): Effect.Effect<ScanEnd, ChainUnavailable> =>
        rest === null
          ? Effect.succeed({ slot: null })
          : Effect.fromResult(resultOf(METHOD, rest)).pipe(
              Effect.flatMap(decodeEnvelope),
              Effect.map(({ context }) => ({ slot: context.slot }))
            )
      ),
      Effect.tapError((failure) => Effect.sync(() => (isOfNode(failure) ? choice.leave(node) : undefined)))
    )
  })

  return AccountScan.of({ scan })
})

/**
 * Scans a node at `SOLANA_RPC_URL`, or a node of the options: the first node, and the next one after a failure. Fails
 * once the node has been silent for `SOLANA_SCAN_TIMEOUT`. The whole answer may take 90 times as long. The accounts
 * come from confirmed blocks at least.
 */
export const layer = (options: RpcOptions = {}): Layer.Layer<AccountScan, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.effect(AccountScan, make(options))
