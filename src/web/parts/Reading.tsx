import { useProgress } from "../data/useProgress.ts"
import { ageWords } from "./words.ts"

/**
 * Says that the market is still being read, how far, and for how long; nothing once it is whole. `meanwhile` says what
 * the reader has to expect until then.
 */
export const Reading = ({ meanwhile }: { readonly meanwhile: string }) => {
  const progress = useProgress()
  if (progress === null) {
    return null
  }
  const { leftMs, share } = progress
  const left = leftMs === null ? "" : `, about ${ageWords(leftMs)} left`
  return (
    <p class="note reading">
      The market of the last day is being read, oldest blocks first: {Math.floor(100 * share)} %{left}. Until then{" "}
      {meanwhile}.
    </p>
  )
}
