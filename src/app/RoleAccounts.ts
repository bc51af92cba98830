/** Accounts of a process that is a part of a service. Loaded where `ROLE` is not `all`. */
import { Config, Effect, Layer } from "effect"
import { blockCommitment, Commitment } from "../solana/Commitment.ts"
import * as ChainFeedBus from "../solana/bus/ChainFeedBus.ts"
import * as PublishAccounts from "../solana/bus/publishAccounts.ts"
import * as AccountBusValkey from "../storage/valkey/AccountBusValkey.ts"

/** `SOLANA_COMMITMENT`; writes that may be rolled back are not passed on. */
export const sharedCommitment = Config.schema(Commitment, "SOLANA_COMMITMENT").pipe(
  Config.withDefault("confirmed" as const),
  Config.map(blockCommitment)
)

/** The relay of the feed of a process that may read the chain, to the bus at this address. */
export const relay = (url: string) =>
  Layer.unwrap(Effect.map(sharedCommitment, PublishAccounts.layer)).pipe(Layer.provide(AccountBusValkey.layer(url)))

/** The accounts of any other process, over the bus at this address. */
export const follower = (url: string) =>
  Layer.unwrap(
    Effect.map(sharedCommitment, (commitment) => ChainFeedBus.layer(new URL(url).host, { commitment }))
  ).pipe(Layer.provide(AccountBusValkey.layer(url)))
