import { type Config, Effect, Layer, Result, Schema } from "effect"
import type { HttpClient } from "effect/http"
import type { AccountWallet, CatalogEntry } from "../api/schemas/Funding.ts"
import { watchUpstream } from "../operations/SourceMonitor.ts"
import {
  type DepositTarget,
  FundingClient,
  FundingUnavailable,
  UnknownFundingTarget,
  UnknownWallet,
  type WalletChoice
} from "./FundingClient.ts"
import { type FundingRequest, makeFundingCall } from "./fundingHttp.ts"
import { balancesFlaw, catalogFlaw, depositFlaw, type Flaw, walletsFlaw } from "./fundingRules.ts"
import { type FundingOptions, fundingSettings } from "./fundingSettings.ts"
import { BalancesAnswer, CatalogAnswer, DepositAnswer, Refusal, WalletsAnswer } from "./protocol.ts"

/** The longest answers, in bytes. */
const LISTS = 4 * 1024 * 1024
const ONE = 64 * 1024

const jsonOf = <A>(schema: Schema.ConstraintCodec<A, unknown>) =>
  Schema.decodeUnknownResult(Schema.fromJsonString(schema), { onExcessProperty: "error" })

const decodeWallets = jsonOf(WalletsAnswer)
const decodeCatalog = jsonOf(CatalogAnswer)
const decodeBalances = jsonOf(BalancesAnswer)
const decodeDeposit = jsonOf(DepositAnswer)
const decodeRefusal = jsonOf(Refusal)

type Unknown = UnknownWallet | UnknownFundingTarget

const unavailable = (flaw: Flaw) => new FundingUnavailable(flaw)
const malformed = (detail: string) => unavailable({ reason: "malformed", detail })

const walletOf = (wallets: ReadonlyArray<AccountWallet>, id: string): Effect.Effect<AccountWallet, UnknownWallet> => {
  const wallet = wallets.find(({ walletId }) => walletId === id)
  return wallet === undefined ? Effect.fail(new UnknownWallet()) : Effect.succeed(wallet)
}

/** The network and asset of a deposit, from the catalog, if the wallet can receive it. */
const targetOf = (networks: ReadonlyArray<CatalogEntry>, wallet: AccountWallet, target: DepositTarget) => {
  const entry = networks.find(({ network }) => network.id === target.networkId)
  const listed = entry?.assets.find(({ id }) => id === target.assetId)
  if (entry === undefined || listed === undefined || entry.network.family !== wallet.family) {
    return Effect.fail(new UnknownFundingTarget())
  }
  const { minimumAtomic: _, ...asset } = listed
  return Effect.succeed({ network: entry.network, asset })
}

const ownerPath = (owner: string, what: string): FundingRequest["path"] =>
  `/v1/owners/${encodeURIComponent(owner.toWellFormed())}/${what}`

// A request for a whole list has no target that could be refused.
const never = () => malformed("a refusal of a list")

/** The error of a 404. A body outside the protocol is malformed. */
const refusalOf = (text: string): Unknown | FundingUnavailable => {
  const refusal = decodeRefusal(text)
  if (Result.isFailure(refusal)) {
    return malformed("HTTP 404 without a refusal")
  }
  return refusal.success.error === "unknown_wallet" ? new UnknownWallet() : new UnknownFundingTarget()
}

const make = Effect.fnUntraced(function* (options: FundingOptions) {
  const call = yield* makeFundingCall(yield* fundingSettings(options))
  const watched = (yield* watchUpstream("funding"))(
    ({ _tag }: Unknown | FundingUnavailable) => _tag !== "FundingUnavailable"
  )

  const answerTo = Effect.fnUntraced(function* <A, E>(
    request: FundingRequest,
    decode: (text: string) => Result.Result<A, E>,
    flawOf: (answer: A) => Flaw | null
  ) {
    const { status, text } = yield* call(request)
    if (status === 404) {
      return yield* Effect.fail(refusalOf(text))
    }
    const answer = decode(text)
    if (Result.isFailure(answer)) {
      return yield* malformed("an answer that is not of the protocol")
    }
    const flaw = flawOf(answer.success)
    return yield* flaw === null ? Effect.succeed(answer.success) : unavailable(flaw)
  }, watched)

  const wallets = Effect.fn("FundingClient.wallets")(function* (owner: string) {
    const request: FundingRequest = { path: ownerPath(owner, "wallets"), params: {}, maxBytes: LISTS }
    const answer = yield* answerTo(request, decodeWallets, (answer) => walletsFlaw(owner, answer)).pipe(
      Effect.catchTags({ UnknownWallet: never, UnknownFundingTarget: never })
    )
    return { wallets: answer.wallets, asOf: answer.asOf }
  })

  const wholeCatalog = answerTo({ path: "/v1/catalog", params: {}, maxBytes: LISTS }, decodeCatalog, catalogFlaw).pipe(
    Effect.catchTags({ UnknownWallet: never, UnknownFundingTarget: never })
  )

  // Only the owner's wallets are requested, so a wallet of another owner is as unknown as a missing one.
  const fundable = Effect.fnUntraced(function* (owner: string, walletId: string) {
    const wallet = yield* walletOf((yield* wallets(owner)).wallets, walletId)
    return yield* wallet.verified ? Effect.succeed(wallet) : new UnknownFundingTarget()
  })

  const catalog = Effect.fn("FundingClient.catalog")(function* ({ owner, walletId }: WalletChoice) {
    if (walletId === undefined) {
      return yield* wholeCatalog
    }
    const { family } = yield* fundable(owner, walletId)
    const { asOf, networks } = yield* wholeCatalog
    return { networks: networks.filter(({ network }) => network.family === family), asOf }
  })

  const balances = Effect.fn("FundingClient.balances")(function* ({ owner, walletId }: WalletChoice) {
    const registry = yield* wallets(owner)
    const chosen = walletId === undefined ? registry.wallets : [yield* walletOf(registry.wallets, walletId)]
    const request: FundingRequest = {
      path: ownerPath(owner, "balances"),
      params: { wallet: walletId },
      maxBytes: LISTS
    }
    const answer = yield* answerTo(request, decodeBalances, (answer) =>
      balancesFlaw({ owner, wallets: chosen }, answer)
    ).pipe(Effect.catchTag("UnknownFundingTarget", never))
    return { balances: answer.balances, unread: answer.unread, asOf: answer.asOf }
  })

  const depositAddress = Effect.fn("FundingClient.depositAddress")(function* (target: DepositTarget) {
    const { assetId, networkId, owner, walletId } = target
    const wallet = yield* fundable(owner, walletId)
    const { asset, network } = yield* targetOf((yield* wholeCatalog).networks, wallet, target)
    const request: FundingRequest = {
      path: ownerPath(owner, "deposit-address"),
      params: { wallet: walletId, network: networkId, asset: assetId },
      maxBytes: ONE
    }
    const { deposit } = yield* answerTo(request, decodeDeposit, (answer) =>
      depositFlaw({ owner, wallet, network, asset }, answer.owner, answer.deposit)
    )
    return deposit
  })

  return FundingClient.of({ wallets, catalog, balances, depositAddress })
})

/** Asks the service at `FUNDING_URL`, or the one in the options, each request within `FUNDING_TIMEOUT` (2 s). */
export const layer = (
  options: FundingOptions = {}
): Layer.Layer<FundingClient, Config.ConfigError, HttpClient.HttpClient> => Layer.effect(FundingClient, make(options))
