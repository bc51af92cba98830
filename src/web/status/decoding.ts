/** How well swaps are decoded, in words. */
import type { ProgramDecoding } from "../../api/schemas/ProgramDecoding.ts"

/** One program as the API gives it. */
export type DecodingJson = typeof ProgramDecoding.Encoded

/** A share as a percentage, rounded down so that only a full share is 100 %; a dash when it is unknown. */
export const shareWords = (share: number | null): string =>
  share === null ? "–" : `${Math.floor(share * 1000) / 10} %`

/** The swaps of an hour: that all were confirmed, or how many were, and why the others were not. */
export const hourWords = ({
  confirmed,
  contradicted,
  leftOut,
  seen,
  unchecked,
  unknown
}: DecodingJson["hours"][number]): string => {
  if (seen > 0 && confirmed === seen) {
    return `all ${seen} confirmed`
  }
  return [
    ["seen", seen],
    ["confirmed", confirmed],
    ["contradicted", contradicted],
    ["unchecked", unchecked],
    ["left out", leftOut.oneSided + leftOut.unmoved],
    ["of unknown instructions", unknown]
  ]
    .flatMap(([name, count], i) => (count === 0 && i > 1 ? [] : [`${count} ${name}`]))
    .join(", ")
}
