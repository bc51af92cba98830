/** A `TrackerStore` without a database, for tests of what stands on it. It passes the contract of the store. */
import { Clock, Effect, Layer, PubSub, Stream } from "effect"
import { randomBase62, SecretSource } from "../../src/domain/randomText.ts"
import type { Address } from "../../src/domain/Address.ts"
import {
  GroupId,
  MAIN_GROUP,
  MAX_TRACKED_WALLETS,
  TooManyWallets,
  type Tracked,
  type Tracking,
  UnknownGroup,
  type WalletActivity,
  WalletLabel
} from "../../src/domain/wallets/Tracker.ts"
import {
  GROUP_ID_LENGTH,
  happenedSince,
  type KeptGroup,
  type KeptWallet,
  overviewOf
} from "../../src/tracker/overview.ts"
import { TrackerStore } from "../../src/tracker/TrackerStore.ts"
import { WatchList } from "../../src/tracker/WatchList.ts"

interface Account {
  readonly groups: Map<GroupId, KeptGroup>
  readonly wallets: Map<Address, KeptWallet>
}

/** A tracked wallet with the texts that were given. */
const described = (kept: KeptWallet, { emoji, label, notes }: Tracking): KeptWallet => ({
  ...kept,
  label: label ?? kept.label,
  emoji: emoji ?? kept.emoji,
  notes: notes ?? kept.notes
})

const isSame = (a: KeptWallet, b: KeptWallet): boolean =>
  a.label === b.label && a.emoji === b.emoji && a.notes === b.notes && a.groups.length === b.groups.length

// Each method reads the clock first and then acts in one synchronous step.
const make = Effect.gen(function* () {
  const watchList = yield* WatchList
  const random = yield* SecretSource
  const changed = yield* PubSub.unbounded<string>()
  const accounts = new Map<string, Account>()

  const accountOf = (accountId: string, nowMs: number): Account => {
    const main = { groupId: MAIN_GROUP, name: "Main", isMain: true, createdAtMs: nowMs }
    const account = accounts.get(accountId) ?? { groups: new Map([[MAIN_GROUP, main]]), wallets: new Map() }
    accounts.set(accountId, account)
    return account
  }

  const put = (
    tracking: Tracking,
    groupId: GroupId,
    nowMs: number
  ): Effect.Effect<Tracked, UnknownGroup | TooManyWallets> => {
    const { accountId, wallet } = tracking
    const { groups, wallets } = accountOf(accountId, nowMs)
    if (!groups.has(groupId)) {
      return Effect.fail(new UnknownGroup({ groupId }))
    }
    const before = wallets.get(wallet)
    if (before === undefined && wallets.size >= MAX_TRACKED_WALLETS) {
      return Effect.fail(new TooManyWallets({ limit: MAX_TRACKED_WALLETS }))
    }
    const texts = { label: null, emoji: null, notes: null }
    const kept = before ?? { wallet, ...texts, groups: [groupId], addedAtMs: nowMs, lastEventAtMs: null }
    const isNew = before === undefined || !before.groups.includes(groupId)
    const [primary, ...others] = kept.groups
    const after = described(
      kept.groups.includes(groupId) ? kept : { ...kept, groups: [primary, ...others, groupId] },
      tracking
    )
    wallets.set(wallet, after)
    watchList.add(after)
    if (before === undefined || !isSame(before, after)) {
      PubSub.publishUnsafe(changed, accountId)
    }
    return Effect.succeed({ groupId, isNew })
  }

  const takeOut = (accountId: string, wallet: Address): boolean => {
    const wasThere = accounts.get(accountId)?.wallets.delete(wallet) === true
    if (wasThere) {
      const watched = Array.from(accounts.values()).flatMap(({ wallets }) => Array.from(wallets.values()))
      watchList.replace(watched, watchList.mark())
      PubSub.publishUnsafe(changed, accountId)
    }
    return wasThere
  }

  const note = ({ atMs, wallet }: WalletActivity) => {
    for (const { wallets } of accounts.values()) {
      const kept = wallets.get(wallet)
      if (kept !== undefined && atMs > (kept.lastEventAtMs ?? -1) && happenedSince(kept.addedAtMs, atMs)) {
        wallets.set(wallet, { ...kept, lastEventAtMs: atMs })
      }
    }
  }

  return TrackerStore.of({
    overview: Effect.fn("TrackerStore.overview")(
      ({ accountId, groupId }: { readonly accountId: string; readonly groupId: GroupId | null }) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
          const { groups, wallets } = accountOf(accountId, nowMs)
          const overview = overviewOf(Array.from(groups.values()), Array.from(wallets.values()), groupId)
          return overview === null
            ? Effect.fail(new UnknownGroup({ groupId: groupId ?? MAIN_GROUP }))
            : Effect.succeed(overview)
        })
    ),
    add: Effect.fn("TrackerStore.add")((tracking: Tracking) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMs) => put(tracking, tracking.groupId ?? MAIN_GROUP, nowMs))
    ),
    remove: Effect.fn("TrackerStore.remove")(
      ({ accountId, wallet }: { readonly accountId: string; readonly wallet: Address }) =>
        Effect.sync(() => takeOut(accountId, wallet))
    ),
    createGroup: Effect.fn("TrackerStore.createGroup")(
      ({ accountId, name }: { readonly accountId: string; readonly name: string }) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => {
          const groupId = GroupId.make(`grp_${randomBase62(GROUP_ID_LENGTH, random)}`)
          const group = { groupId, name: WalletLabel.make(name), isMain: false, createdAtMs: nowMs }
          accountOf(accountId, nowMs).groups.set(groupId, group)
          PubSub.publishUnsafe(changed, accountId)
          return { ...group, walletCount: 0 }
        })
    ),
    recordActivity: Effect.fn("TrackerStore.recordActivity")((batch: ReadonlyArray<WalletActivity>) =>
      Effect.sync(() => batch.forEach(note))
    ),
    changes: Stream.fromPubSub(changed)
  })
})

/** Accounts held in process. */
export const layer: Layer.Layer<TrackerStore, never, WatchList> = Layer.effect(TrackerStore, make)
