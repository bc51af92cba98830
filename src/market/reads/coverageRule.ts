/** The one rule for incomplete windows: the value of what was seen, or none when too little was seen. */
import { type Coverage, COMPLETE, incomplete } from "../../domain/Scalar.ts"

/** Windows are compared when their shares differ by at most this. */
const TOLERANCE = 0.01

/** True when the value of what was seen is shown. A coverage has no share when it is below `MIN_COVERAGE`. */
export const isShown = ({ complete, share }: Coverage): boolean => complete || share !== undefined

const shareOf = ({ complete, share }: Coverage): number => (complete ? 1 : (share ?? 0))

/** The coverage of a comparison. Nothing is shown unless both windows were seen to the same share. */
export const compared = (now: Coverage, before: Coverage): Coverage => {
  if (now.complete && before.complete) {
    return COMPLETE
  }
  const worse = shareOf(now) < shareOf(before) ? now : before
  const reason = (worse.complete ? now.reason : worse.reason) ?? "source_gap"
  const isEqual = Math.abs(shareOf(now) - shareOf(before)) <= TOLERANCE
  return isShown(now) && isShown(before) && isEqual ? worse : incomplete(reason)
}
