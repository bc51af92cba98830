import { failureOf, respond } from "../data/request.ts"
import { useReading } from "../data/useRead.ts"
import { Markdown } from "../parts/Markdown.tsx"
import { Shown } from "../parts/States.tsx"
import { useTitle } from "../parts/useTitle.ts"
import "../style/docs.css"

const readChanges = async (signal: AbortSignal): Promise<string> => {
  const response = await respond("GET", "/changelog", { headers: { accept: "text/markdown" }, signal })
  if (!response.ok) {
    throw await failureOf(response)
  }
  return response.text()
}

/** The changes of the API by day. */
export const Changelog = () => {
  useTitle("Changes")
  const read = useReading("changelog", readChanges)
  return (
    <>
      {read.answer === null && <h1>Changes of the API</h1>}
      <Shown read={read} what="the changes" rows={12}>
        {(text) => (
          <div class="docs-alone">
            <Markdown text={text} />
          </div>
        )}
      </Shown>
    </>
  )
}
