/** A feed over a scripted chain, on real sockets. A Geyser streams the writes, and a node answers with the accounts. */
import { NodeHttpClient } from "@effect/platform-node"
import { Context, Effect, Fiber, Layer, References } from "effect"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { makeBank } from "../../../src/simulator/chain/Bank.ts"
import { type GeyserNode, makeGeyserNode } from "../../../src/simulator/node/GeyserNode.ts"
import { type GeyserAilment, healthyGeyser } from "../../../src/simulator/node/geyserSlots.ts"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import { type GeyserAccountFeedOptions, layer } from "../../../src/chain/geyser/ChainFeedGeyser.ts"
import { type FakeNode, startNode } from "../../support/FakeNode.ts"
import { at, clockOf, holding, readFeed, type Reader, until } from "../accounts/accounts.ts"

// The feed logs warnings about what these tests do to it.
export const services = Layer.mergeAll(NodeHttpClient.layerUndici, Layer.succeed(References.MinimumLogLevel, "None"))

const empty = makeBank({ seed: "none", startSlot: 1, startUnixMs: 0 }).newest()

/** A chain at slot 100, at one node and at one Geyser for each ailment. */
export class ScriptedChain {
  readonly node: FakeNode
  #newest = { ...empty, slot: 100, parent: 99 }
  readonly #kept = new Map(
    Array.from({ length: 50 }, (_, index) => [51 + index, { ...empty, slot: 51 + index, parent: 50 + index }])
  )
  readonly #geysers: Array<GeyserNode> = []

  constructor(node: FakeNode) {
    this.node = node
  }

  readonly served = { blocks: () => this.#kept.values(), newest: () => this.#newest }

  add(geyser: GeyserNode): void {
    this.#geysers.push(geyser)
    this.#kept.forEach((block) => geyser.publish(block))
  }

  /** Makes a slot with writes of these accounts and of the clock. */
  write(slot: number, ...accounts: ReadonlyArray<OnChainAccount>): void {
    const written = [...accounts, clockOf(7, 1_700_000_000, slot)].map((account) => ({ ...account, slot }))
    this.node.slot = slot
    this.node.put(...written)
    this.#newest = { ...empty, slot, parent: slot - 1, accounts: written }
    this.#kept.set(slot, this.#newest)
    this.repeat()
  }

  /** Deletes an account. */
  close(slot: number, account: OnChainAccount): void {
    this.write(slot, { ...account, lamports: 0n, data: new Uint8Array(0) })
    this.node.accounts.delete(account.address)
  }

  /** Streams the newest slot once more. A stream that has begun since has not received any slot yet. */
  repeat(): void {
    this.#geysers.forEach((geyser) => geyser.publish(this.#newest))
  }
}

/** A chain of these accounts, and its Geysers. The newest slot is streamed again and again. */
export const scriptedChain = Effect.fnUntraced(function* (
  accounts: ReadonlyArray<OnChainAccount>,
  ailments: ReadonlyArray<Partial<GeyserAilment>> = [{}]
) {
  const node = yield* Effect.orDie(startNode)
  node.put(...accounts)
  const chain = new ScriptedChain(node)
  const geysers: Array<GeyserNode> = []
  for (const ailment of ailments) {
    const geyser = yield* makeGeyserNode(() => chain.served, { ...healthyGeyser, ...ailment })
    chain.add(geyser)
    geysers.push(geyser)
  }
  yield* Effect.sync(() => chain.repeat()).pipe(
    Effect.andThen(Effect.sleep("5 millis")),
    Effect.forever,
    Effect.forkScoped
  )
  return { chain, geysers }
})

/** A feed of the chain. */
export const feedOf = (
  { chain, geysers }: Effect.Success<ReturnType<typeof scriptedChain>>,
  options: GeyserAccountFeedOptions = {}
) =>
  layer({
    rpcUrl: chain.node.rpcUrl,
    geyser: { url: geysers.map(({ url }) => url).join(",") },
    ...options
  }).pipe(Layer.provide(services))

export const A = at(1)
export const B = at(2)

/** A chain, its feed, and its reader. */
export interface GeyserScene {
  readonly chain: ScriptedChain
  readonly geyser: GeyserNode
  readonly geysers: ReadonlyArray<GeyserNode>
  readonly feed: ChainFeed["Service"]
  readonly reader: Reader
}

/** A feed that watches A and B and has emitted their first states. */
export const scene = Effect.fnUntraced(function* <E, R>(
  body: (scene: GeyserScene) => Effect.Effect<void, E, R>,
  {
    ailments,
    advances = false,
    ...options
  }: GeyserAccountFeedOptions & {
    readonly ailments?: ReadonlyArray<Partial<GeyserAilment>>
    /** Slots follow each other until A and B are emitted: without a new one for two seconds a feed counts as silent. */
    readonly advances?: boolean
  } = {}
) {
  const scripted = yield* scriptedChain([holding(A, [0]), holding(B, [0]), clockOf(7, 1_700_000_000)], ailments)
  const feed = Context.get(yield* Layer.build(feedOf(scripted, options)), ChainFeed)
  const reader = yield* readFeed(feed)
  yield* feed.watch([A, B])
  let slot = 100
  const advancing = yield* Effect.sync(() => (advances ? scripted.chain.write(++slot) : undefined)).pipe(
    Effect.delay("200 millis"),
    Effect.forever,
    Effect.forkScoped
  )
  yield* until("A and B are emitted", () => reader.known.size === 2 && feed.freshness().state === "live")
  yield* Fiber.interrupt(advancing)
  const [geyser] = scripted.geysers
  if (geyser !== undefined) {
    yield* body({ ...scripted, geyser, feed, reader })
  }
}, Effect.scoped)
