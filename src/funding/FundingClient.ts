import { Context, Effect, Layer, Schema } from "effect"
import type {
  AccountBalance,
  AccountDepositAddress,
  AccountWallet,
  CatalogEntry,
  UnreadChain
} from "../domain/Funding.ts"

/**
 * The funding service did not answer, or not with anything that may be passed on: `malformed` breaks the protocol,
 * `foreign` speaks of another owner, wallet, network or asset than it was asked about.
 */
export class FundingUnavailable extends Schema.TaggedError<FundingUnavailable>()("FundingUnavailable", {
  reason: Schema.Literals(["unconfigured", "timeout", "unreachable", "rate_limited", "malformed", "foreign"]),
  /** For the log: what is wrong, without a word of what the service said. */
  detail: Schema.String,
  /** How long to leave the service alone, when that is known. */
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {}

/** The owner has no such wallet. Whether somebody else has is not looked up. */
export class UnknownWallet extends Schema.TaggedError<UnknownWallet>()("UnknownWallet", {}) {}

/** The wallet is not verified, or the catalog does not have this network and asset for it. */
export class UnknownFundingTarget extends Schema.TaggedError<UnknownFundingTarget>()("UnknownFundingTarget", {}) {}

/** The registry of one owner at `asOf`, in milliseconds since the Unix epoch. */
export interface Wallets {
  readonly wallets: ReadonlyArray<AccountWallet>
  readonly asOf: number
}

/** What can be deposited, at `asOf`. */
export interface Catalog {
  readonly networks: ReadonlyArray<CatalogEntry>
  readonly asOf: number
}

/** What an owner holds, at `asOf`; each row has a time of its own. `unread` names chains whose rows are missing. */
export interface Balances {
  readonly balances: ReadonlyArray<AccountBalance>
  readonly unread: ReadonlyArray<UnreadChain>
  readonly asOf: number
}

/** Whose, and which wallet of theirs; all of them, or none in particular, when it is undefined. */
export interface WalletChoice {
  /** The account of a verified key. Never anything that a caller says. */
  readonly owner: string
  readonly walletId?: string | undefined
}

/** Where one deposit is to arrive: exact ids, as registry and catalog spell them. */
export interface DepositTarget {
  /** The account of a verified key. Never anything that a caller says. */
  readonly owner: string
  readonly walletId: string
  readonly networkId: string
  readonly assetId: string
}

/** The funding service, asked anew each time. Every answer has been checked; nothing is kept, inferred or made up. */
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
  /** For a deployment that has no funding service: every question says so. */
  static readonly layerUnconfigured: Layer.Layer<FundingClient> = Layer.sync(FundingClient, () => {
    const detail = "no funding service is configured"
    const nobody = () => Effect.fail(new FundingUnavailable({ reason: "unconfigured", detail, retryAfterMs: 60_000 }))
    return FundingClient.of({ wallets: nobody, catalog: nobody, balances: nobody, depositAddress: nobody })
  })
}
