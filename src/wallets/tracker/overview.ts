/** Views of the tracked wallets of an account. */
import type { Address } from "../../domain/Address.ts"
import {
  type GroupId,
  MAIN_GROUP,
  MAX_TRACKED_WALLETS,
  type TrackedWallet,
  type TrackerGroup,
  type TrackerStatus
} from "../../api/schemas/Tracker.ts"
import { type FeedHealth, healthState } from "../../live/FeedHealth.ts"

/** A stored group. */
export type KeptGroup = Omit<TrackerGroup, "walletCount">

/** A stored wallet; `groups` is never empty. */
export type KeptWallet = Pick<TrackedWallet, "wallet" | "label" | "emoji" | "notes" | "addedAtMs" | "lastEventAtMs"> & {
  readonly groups: readonly [GroupId, ...ReadonlyArray<GroupId>]
}

/** The wallets of an account or of one group, and all groups of the account. */
export interface TrackerOverview {
  /** Main first, the others by creation time. */
  readonly groups: ReadonlyArray<TrackerGroup>
  /** Newest first; within a millisecond by address. */
  readonly wallets: ReadonlyArray<TrackedWallet>
}

/** Random characters of a group id: 71 bits. */
export const GROUP_ID_LENGTH = 12

const wordOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const byAge = (a: TrackerGroup, b: TrackerGroup): number =>
  Number(b.isMain) - Number(a.isMain) || a.createdAtMs - b.createdAtMs || wordOrder(a.groupId, b.groupId)

const newestFirst = (a: TrackedWallet, b: TrackedWallet): number =>
  b.addedAtMs - a.addedAtMs || wordOrder(a.wallet, b.wallet)

/** The time rounded down to the second, in milliseconds, because block times are whole seconds. */
export const secondOf = (timeMs: number): number => timeMs - (timeMs % 1000)

/** True if an event falls into the time of tracking; the second of the addition is included. */
export const happenedSince = (addedAtMs: number, eventAtMs: number): boolean => eventAtMs >= secondOf(addedAtMs)

const shown = ({ groups, ...kept }: KeptWallet): TrackedWallet => ({
  ...kept,
  groups,
  groupId: groups[0],
  status: kept.lastEventAtMs === null ? "pending" : "live"
})

/** The wallet without groups that no longer exist; in Main when none is left. */
const inKnownGroups = (wallet: KeptWallet, known: ReadonlySet<GroupId>): KeptWallet => {
  if (wallet.groups.every((groupId) => known.has(groupId))) {
    return wallet
  }
  const [primary = MAIN_GROUP, ...others] = wallet.groups.filter((groupId) => known.has(groupId))
  return { ...wallet, groups: [primary, ...others] }
}

/** The overview of an account or of one group; null for an unknown group. */
export const overviewOf = (
  groups: ReadonlyArray<KeptGroup>,
  kept: ReadonlyArray<KeptWallet>,
  groupId: GroupId | null
): TrackerOverview | null => {
  const known = new Set(groups.map((group) => group.groupId))
  const wallets = kept.map((wallet) => inKnownGroups(wallet, known))
  if (groupId !== null && !known.has(groupId)) {
    return null
  }
  const sizes = new Map<GroupId, number>()
  for (const member of wallets.flatMap((wallet) => wallet.groups)) {
    sizes.set(member, (sizes.get(member) ?? 0) + 1)
  }
  return {
    groups: groups.map((group) => ({ ...group, walletCount: sizes.get(group.groupId) ?? 0 })).toSorted(byAge),
    wallets: wallets
      .filter((wallet) => groupId === null || wallet.groups.includes(groupId))
      .map(shown)
      .toSorted(newestFirst)
  }
}

/** The wallet with the activity, if it is newer than the stored one and falls into the time of tracking. */
export const withActivity = (tracked: TrackedWallet, eventAtMs: number | null): TrackedWallet =>
  eventAtMs === null || eventAtMs <= (tracked.lastEventAtMs ?? -1) || !happenedSince(tracked.addedAtMs, eventAtMs)
    ? tracked
    : { ...tracked, status: "live", lastEventAtMs: eventAtMs }

/** Status of the tracker for these wallets. */
export const statusOf = (
  wallets: ReadonlyArray<TrackedWallet>,
  health: FeedHealth,
  nowMs: number,
  walletLimit = MAX_TRACKED_WALLETS
): TrackerStatus => {
  const live = wallets.filter(({ status }) => status === "live")
  return {
    state: wallets.length === 0 ? "idle" : healthState(health, nowMs),
    walletsTracked: wallets.length,
    walletsLive: live.length,
    walletsPending: wallets.length - live.length,
    walletLimit,
    lastEventAtMs: live.reduce<number | null>(
      (newest, { lastEventAtMs }) => Math.max(newest ?? 0, lastEventAtMs ?? 0),
      null
    ),
    ingestLagMs: health.ingestLagMs,
    observedAtMs: nowMs
  }
}

export const addressesOf = (wallets: ReadonlyArray<TrackedWallet>): ReadonlyArray<Address> =>
  wallets.map(({ wallet }) => wallet)
