/** Live events in components. */
import { useEffect, useRef, useState } from "preact/hooks"
import { gather } from "./gather.ts"
import { follow } from "./live.ts"
import type { MarketEvent, MarketTerms } from "./marketStream.ts"
import type { TrackerEvent } from "./trackerStream.ts"

const isBroken = ({ type, ...event }: MarketEvent): boolean =>
  type === "ended" || (type === "state" && "state" in event && event.state !== "live")

/**
 * Follows a subscription of the market socket; none for null. `take` gets its snapshot and every frame. Returns whether
 * frames arrive now. Until they do, the page reads more often.
 */
export const useMarket = (terms: MarketTerms | null, take: (event: MarketEvent) => void): boolean => {
  const [isLive, setLive] = useState(false)
  const latest = useRef(take)
  latest.current = take
  const key = JSON.stringify(terms)
  useEffect(() => {
    if (terms === null) {
      return undefined
    }
    const gathered = gather<MarketEvent>((events) => {
      for (const event of events) {
        if (event.type === "snapshot") {
          setLive(true)
        } else if (isBroken(event)) {
          setLive(false)
        }
        latest.current(event)
      }
    })
    const stop = follow({ source: "market", terms }, (event) => gathered.push(event as MarketEvent))
    return () => {
      setLive(false)
      stop()
      gathered.stop()
    }
  }, [key])
  return isLive
}

/**
 * Follows the tracker's stream of a group, or of all groups for null, again with each new `turn`. Follows nothing for
 * undefined.
 */
export const useTracker = (group: string | null | undefined, take: (event: TrackerEvent) => void, turn = 0): void => {
  const latest = useRef(take)
  latest.current = take
  useEffect(() => {
    if (group === undefined) {
      return undefined
    }
    const gathered = gather<TrackerEvent>((events) => events.forEach((event) => latest.current(event)))
    const stop = follow({ source: "tracker", group }, (event) => gathered.push(event as TrackerEvent))
    return () => {
      stop()
      gathered.stop()
    }
  }, [group, turn])
}
