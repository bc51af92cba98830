/** Pages of launches, newest first. */
import type { Address, Mint } from "../../domain/Address.ts"
import { decimalText } from "../../domain/rational.ts"
import type { LaunchSums } from "../../api/schemas/LaunchView.ts"
import type { LaunchRecord } from "../model/Launches.ts"

/** A place in the list. */
export interface LaunchPlace {
  readonly timeMs: number
  readonly mint: Mint
}

/** Selects a page of launches; null does not filter. Times are in milliseconds. */
export interface LaunchPageRequest {
  readonly launchpads: ReadonlyArray<string> | null
  readonly platforms: ReadonlyArray<string> | null
  readonly creator: Address | null
  readonly graduated: boolean | null
  readonly fromMs: number | null
  readonly toMs: number | null
  readonly after: LaunchPlace | null
  readonly limit: number
}

/** The time of a launch in the list: its creation, or its migration when the creation was not seen. */
export const listedAtMs = ({ createdAtMs, graduatedAtMs }: LaunchRecord): number => createdAtMs ?? graduatedAtMs ?? 0

const placeOf = (launch: LaunchRecord): LaunchPlace => ({ timeMs: listedAtMs(launch), mint: launch.mint })

/** Compares launches for sorting, newest first. */
const inOrder = (a: LaunchPlace, b: LaunchPlace): number => b.timeMs - a.timeMs || (a.mint < b.mint ? -1 : 1)

const isListed = (launch: LaunchRecord, request: LaunchPageRequest): boolean => {
  const { after, creator, fromMs, graduated, launchpads, platforms, toMs } = request
  const place = placeOf(launch)
  return (
    (launchpads === null || launchpads.includes(launch.launchpad)) &&
    (platforms === null || (launch.platform !== null && platforms.includes(launch.platform))) &&
    (creator === null || launch.creator === creator) &&
    (graduated === null || (launch.graduatedAtMs !== null) === graduated) &&
    (fromMs === null || place.timeMs >= fromMs) &&
    (toMs === null || place.timeMs < toMs) &&
    (after === null || (place.mint !== after.mint && inOrder(after, place) < 0))
  )
}

/** A page of launches. Looks once at each launch, and sorts the page for each that enters it. */
export const launchPage = (
  launches: Iterable<LaunchRecord>,
  request: LaunchPageRequest
): { readonly launches: ReadonlyArray<LaunchRecord>; readonly next: LaunchPlace | null } => {
  const most = request.limit + 1
  const best: Array<LaunchRecord> = []
  for (const launch of launches) {
    const last = best.at(-1)
    const isFull = best.length === most
    if ((isFull && last !== undefined && inOrder(placeOf(last), placeOf(launch)) < 0) || !isListed(launch, request)) {
      continue
    }
    const at = best.findIndex((each) => inOrder(placeOf(launch), placeOf(each)) < 0)
    best.splice(at < 0 ? best.length : at, 0, launch)
    best.length = Math.min(best.length, most)
  }
  const page = best.slice(0, request.limit)
  const end = page.at(-1)
  return { launches: page, next: best.length > request.limit && end !== undefined ? placeOf(end) : null }
}

/** The launches of a creator in numbers. A token whose creation was not seen is known only because it graduated, so it would bias the share. */
export const launchSums = (launches: Iterable<LaunchRecord>, creator: Address): typeof LaunchSums.Type => {
  let [created, graduated, migratedOnly]: [number, number, number] = [0, 0, 0]
  let newestAtMs: number | null = null
  for (const launch of launches) {
    if (launch.creator !== creator) {
      continue
    }
    if (launch.createdAtMs === null) {
      migratedOnly++
      continue
    }
    created++
    graduated += launch.graduatedAtMs === null ? 0 : 1
    newestAtMs = Math.max(newestAtMs ?? 0, launch.createdAtMs)
  }
  const share = { numerator: 100n * BigInt(graduated), denominator: BigInt(created) }
  return { created, graduated, graduatedPct: created === 0 ? null : decimalText(share), migratedOnly, newestAtMs }
}
