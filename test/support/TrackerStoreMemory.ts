/** A `TrackerStore` without a database, for tests of what stands on it. It passes the contract of the store. */
import { Clock, Effect, Layer, PubSub, Stream } from "effect"
import { randomBase62, SecretSource } from "../../src/domain/randomText.ts"
import type { Address } from "../../src/domain/Address.ts"
import {
  GroupId,
  MAIN_GROUP,
  MAX_GROUPS,
  MAX_TRACKED_WALLETS,
  TooManyGroups,
  TooManyWallets,
  type Tracked,
  type Tracking,
  UnknownGroup,
  UnknownWallet,
  type WalletActivity,
  type WalletChange,
  WalletLabel
} from "../../src/api/schemas/Tracker.ts"
import {
  GROUP_ID_LENGTH,
  happenedSince,
  type KeptGroup,
  type KeptWallet,
  overviewOf
} from "../../src/wallets/tracker/overview.ts"
import { TrackerStore } from "../../src/wallets/tracker/TrackerStore.ts"
import { WatchList } from "../../src/wallets/tracker/WatchList.ts"

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
    const { accountId, wallet, walletLimit = MAX_TRACKED_WALLETS } = tracking
    const { groups, wallets } = accountOf(accountId, nowMs)
    if (!groups.has(groupId)) {
      return Effect.fail(new UnknownGroup({ groupId }))
    }
    const before = wallets.get(wallet)
    if (before === undefined && wallets.size >= walletLimit) {
      return Effect.fail(new TooManyWallets({ limit: walletLimit }))
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

  /** Runs all of the steps on a copy of the account, which takes its place when none fails. */
  const putAll = (accountId: string, trackings: ReadonlyArray<Tracking>, nowMs: number) => {
    const before = accountOf(accountId, nowMs)
    accounts.set(accountId, { groups: before.groups, wallets: new Map(before.wallets) })
    return Effect.forEach(trackings, (tracking) => put(tracking, tracking.groupId ?? MAIN_GROUP, nowMs)).pipe(
      Effect.tapError(() => Effect.sync(() => accounts.set(accountId, before)))
    )
  }

  const change = (
    { accountId, emoji, groups, label, notes, wallet }: WalletChange,
    nowMs: number
  ): Effect.Effect<void, UnknownWallet | UnknownGroup> => {
    const account = accountOf(accountId, nowMs)
    const kept = account.wallets.get(wallet)
    if (kept === undefined) {
      return Effect.fail(new UnknownWallet({ wallet }))
    }
    const unknown = groups?.find((groupId) => !account.groups.has(groupId))
    if (unknown !== undefined) {
      return Effect.fail(new UnknownGroup({ groupId: unknown }))
    }
    const [primary = kept.groups[0], ...others] = groups ?? kept.groups
    account.wallets.set(wallet, {
      ...kept,
      label: label === undefined ? kept.label : label,
      emoji: emoji === undefined ? kept.emoji : emoji,
      notes: notes === undefined ? kept.notes : notes,
      groups: [primary, ...others]
    })
    PubSub.publishUnsafe(changed, accountId)
    return Effect.void
  }

  const removeGroup = (accountId: string, groupId: GroupId, nowMs: number): boolean => {
    const { groups, wallets } = accountOf(accountId, nowMs)
    if (groupId === MAIN_GROUP) {
      return false
    }
    for (const [wallet, kept] of wallets) {
      const [primary = MAIN_GROUP, ...others] = kept.groups.filter((member) => member !== groupId)
      wallets.set(wallet, { ...kept, groups: [primary, ...others] })
    }
    const wasThere = groups.delete(groupId)
    if (wasThere) {
      PubSub.publishUnsafe(changed, accountId)
    }
    return wasThere
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
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
          const { groups } = accountOf(accountId, nowMs)
          if (groups.size >= MAX_GROUPS) {
            return Effect.fail(new TooManyGroups({ limit: MAX_GROUPS }))
          }
          const groupId = GroupId.make(`grp_${randomBase62(GROUP_ID_LENGTH, random)}`)
          const group = { groupId, name: WalletLabel.make(name), isMain: false, createdAtMs: nowMs }
          groups.set(groupId, group)
          PubSub.publishUnsafe(changed, accountId)
          return Effect.succeed({ ...group, walletCount: 0 })
        })
    ),
    addAll: Effect.fn("TrackerStore.addAll")((accountId: string, trackings: ReadonlyArray<Tracking>) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMs) => putAll(accountId, trackings, nowMs))
    ),
    change: Effect.fn("TrackerStore.change")((wanted: WalletChange) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMs) => change(wanted, nowMs))
    ),
    renameGroup: Effect.fn("TrackerStore.renameGroup")(
      ({
        accountId,
        groupId,
        name
      }: {
        readonly accountId: string
        readonly groupId: GroupId
        readonly name: string
      }) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => {
          const { groups } = accountOf(accountId, nowMs)
          const kept = groups.get(groupId)
          if (kept !== undefined && kept.name !== name) {
            groups.set(groupId, { ...kept, name: WalletLabel.make(name) })
            PubSub.publishUnsafe(changed, accountId)
          }
          return kept !== undefined
        })
    ),
    removeGroup: Effect.fn("TrackerStore.removeGroup")(
      ({ accountId, groupId }: { readonly accountId: string; readonly groupId: GroupId }) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => removeGroup(accountId, groupId, nowMs))
    ),
    recordActivity: Effect.fn("TrackerStore.recordActivity")((batch: ReadonlyArray<WalletActivity>) =>
      Effect.sync(() => batch.forEach(note))
    ),
    changes: Stream.fromPubSub(changed)
  })
})

/** Accounts held in process. */
export const layer: Layer.Layer<TrackerStore, never, WatchList> = Layer.effect(TrackerStore, make)
