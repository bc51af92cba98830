/** Changes that a page makes. The page reads its data again afterwards and assumes nothing. */
import { useCallback, useState } from "preact/hooks"
import { failureFrom, type RequestFailed } from "./request.ts"

/** A change with its progress and its failure. */
export interface Action {
  readonly isBusy: boolean
  readonly failure: RequestFailed | null
  /** Runs a change and passes its result to `done`. The caller disables its button while `isBusy`. */
  readonly run: <A>(change: () => Promise<A>, done?: (result: A) => void) => void
  readonly clear: () => void
}

/** Runs changes one at a time. */
export const useAction = (): Action => {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<RequestFailed | null>(null)
  const clear = useCallback(() => setFailure(null), [])
  const run = useCallback<Action["run"]>((change, done) => {
    const attempt = async () => {
      setBusy(true)
      setFailure(null)
      try {
        const result = await change()
        done?.(result)
      } catch (cause) {
        setFailure(failureFrom(cause))
      }
      setBusy(false)
    }
    void attempt()
  }, [])
  return { isBusy, failure, run, clear }
}
