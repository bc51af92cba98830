import { Context, Effect, Layer, Schema } from "effect"
import type {
  AccountBalance,
  AccountDepositAddress,
  AccountWallet,
  CatalogEntry,
  UnreadChain
} from "../api/schemas/Funding.ts"

/**
 * The funding service gave no answer that may be passed on. `malformed` means that the answer violates the protocol,
 * `foreign` that it concerns another owner, wallet, network or asset than the request.
 */
export class FundingUnavailable extends Schema.TaggedError<FundingUnavailable>()("FundingUnavailable", {
  reason: Schema.Literals(["unconfigured", "timeout", "unreachable", "rate_limited", "malformed", "foreign"]),
  /** What is wrong, for the log. Contains nothing of the answer. */
  detail: Schema.String,
  /** How long the service asks to wait, in ms. */
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {}

/** The owner has no such wallet. Wallets of other owners are not looked up. */
export class UnknownWallet extends Schema.TaggedError<UnknownWallet>()("UnknownWallet", {}) {}

/** The wallet is not verified, or the catalog does not have this network and asset for it. */
export class UnknownFundingTarget extends Schema.TaggedError<UnknownFundingTarget>()("UnknownFundingTarget", {}) {}

/** The wallets of one owner at `asOf`, in milliseconds since the Unix epoch. */
export interface Wallets {
  readonly wallets: ReadonlyArray<AccountWallet>
  readonly asOf: number
}

/** Networks and assets for deposits at `asOf`. */
export interface Catalog {
  readonly networks: ReadonlyArray<CatalogEntry>
  readonly asOf: number
}

/** Balances of an owner at `asOf`. Each row also has its own time. `unread` names the chains whose rows are missing. */
export interface Balances {
  readonly balances: ReadonlyArray<AccountBalance>
  readonly unread: ReadonlyArray<UnreadChain>
  readonly asOf: number
}

/** An owner and one of the owner's wallets. Undefined means all wallets, or none in particular. */
export interface WalletChoice {
  /** The account of a verified key, never one that a request names. */
  readonly owner: string
  readonly walletId?: string | undefined
}

/** Where a deposit goes, by the exact ids of wallets and catalog. */
export interface DepositTarget {
  /** The account of a verified key, never one that a request names. */
  readonly owner: string
  readonly walletId: string
  readonly networkId: string
  readonly assetId: string
}

/** Reads the funding service, without a cache. Validates every answer and infers nothing. */
export class FundingClient extends Context.Service<
  FundingClient,
  {
    wallets(owner: string): Effect.Effect<Wallets, FundingUnavailable>
    /** With a wallet, what that wallet can be funded with: the networks of its family, if it is verified. */
    catalog(choice: WalletChoice): Effect.Effect<Catalog, UnknownWallet | UnknownFundingTarget | FundingUnavailable>
    balances(choice: WalletChoice): Effect.Effect<Balances, UnknownWallet | FundingUnavailable>
    depositAddress(
      target: DepositTarget
    ): Effect.Effect<AccountDepositAddress, UnknownWallet | UnknownFundingTarget | FundingUnavailable>
  }
>()("fathom/funding/FundingClient") {
  /** A deployment without a funding service: every read fails as `unconfigured`. */
  static readonly layerUnconfigured: Layer.Layer<FundingClient> = Layer.sync(FundingClient, () => {
    const detail = "no funding service is configured"
    const fail = () => Effect.fail(new FundingUnavailable({ reason: "unconfigured", detail, retryAfterMs: 60_000 }))
    return FundingClient.of({ wallets: fail, catalog: fail, balances: fail, depositAddress: fail })
  })
}
