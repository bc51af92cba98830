/** What one account tracks, as its owner sees it. */
import type { Address } from "../domain/Address.ts"
import {
  type GroupId,
  MAX_TRACKED_WALLETS,
  type TrackedWallet,
  type TrackerGroup,
  type TrackerStatus
} from "../domain/wallets/Tracker.ts"
import { type FeedHealth, healthState } from "./FeedHealth.ts"

/** A group as a store keeps it. */
export type KeptGroup = Omit<TrackerGroup, "walletCount">

/** A wallet as a store keeps it; `groups` is never empty. */
export type KeptWallet = Pick<TrackedWallet, "wallet" | "label" | "emoji" | "notes" | "addedAtMs" | "lastEventAtMs"> & {
  readonly groups: readonly [GroupId, ...ReadonlyArray<GroupId>]
}

/** Everything an account tracks, or what of it is in one group; the groups are always all of them. */
export interface TrackerOverview {
  /** Main first, the others by age. */
  readonly groups: ReadonlyArray<TrackerGroup>
  /** The newest first, those of one moment by their address. */
  readonly wallets: ReadonlyArray<TrackedWallet>
}

/** Letters of a group's id: 71 random bits, so that nobody guesses one. */
export const GROUP_ID_LENGTH = 12

const wordOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const byAge = (a: TrackerGroup, b: TrackerGroup): number =>
  Number(b.isMain) - Number(a.isMain) || a.createdAtMs - b.createdAtMs || wordOrder(a.groupId, b.groupId)

const newestFirst = (a: TrackedWallet, b: TrackedWallet): number =>
  b.addedAtMs - a.addedAtMs || wordOrder(a.wallet, b.wallet)

/** The beginning of a second: block times say no more than the second. */
export const secondOf = (timeMs: number): number => timeMs - (timeMs % 1000)

/** Whether it is of the time that a wallet has been tracked; the second of the adding counts. */
export const happenedSince = (addedAtMs: number, eventAtMs: number): boolean => eventAtMs >= secondOf(addedAtMs)

const shown = ({ groups, ...kept }: KeptWallet): TrackedWallet => ({
  ...kept,
  groups,
  groupId: groups[0],
  status: kept.lastEventAtMs === null ? "pending" : "live"
})

/** The overview of an account, of one group if it is named; null when there is no such group. */
export const overviewOf = (
  groups: ReadonlyArray<KeptGroup>,
  wallets: ReadonlyArray<KeptWallet>,
  groupId: GroupId | null
): TrackerOverview | null => {
  if (groupId !== null && !groups.some((group) => group.groupId === groupId)) {
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

/** The wallet with what was seen of it since the store last heard, if it is of the time it has been tracked. */
export const withActivity = (tracked: TrackedWallet, eventAtMs: number | null): TrackedWallet =>
  eventAtMs === null || eventAtMs <= (tracked.lastEventAtMs ?? -1) || !happenedSince(tracked.addedAtMs, eventAtMs)
    ? tracked
    : { ...tracked, status: "live", lastEventAtMs: eventAtMs }

/** How the tracking of these wallets goes. */
export const statusOf = (wallets: ReadonlyArray<TrackedWallet>, health: FeedHealth, nowMs: number): TrackerStatus => {
  const live = wallets.filter(({ status }) => status === "live")
  return {
    state: wallets.length === 0 ? "idle" : healthState(health, nowMs),
    walletsTracked: wallets.length,
    walletsLive: live.length,
    walletsPending: wallets.length - live.length,
    walletLimit: MAX_TRACKED_WALLETS,
    lastEventAtMs: live.reduce<number | null>(
      (newest, { lastEventAtMs }) => Math.max(newest ?? 0, lastEventAtMs ?? 0),
      null
    ),
    ingestLagMs: health.ingestLagMs,
    observedAtMs: nowMs
  }
}

/** The addresses of an overview, in its order. */
export const addressesOf = (wallets: ReadonlyArray<TrackedWallet>): ReadonlyArray<Address> =>
  wallets.map(({ wallet }) => wallet)
