import { useState } from "preact/hooks"
import { CopyText } from "../parts/CopyText.tsx"
import { curlOf, type FilledRequest, pythonOf, typescriptOf } from "./snippets.ts"

const languages = [
  ["curl", curlOf],
  ["TypeScript", typescriptOf],
  ["Python", pythonOf]
] as const

/** A request as code, in the language chosen last. */
export const Code = ({ request }: { readonly request: FilledRequest }) => {
  const [chosen, setChosen] = useState(0)
  const [name, write] = languages[chosen] ?? languages[0]
  const text = write(request)
  return (
    <div class="snippet">
      <div class="row spread">
        <div class="row" role="group" aria-label="Language">
          {languages.map(([language], place) => (
            <button key={language} type="button" aria-pressed={place === chosen} onClick={() => setChosen(place)}>
              {language}
            </button>
          ))}
        </div>
        <CopyText text={text} what={`the ${name} code`} />
      </div>
      <pre tabIndex={0} role="region" aria-label={`Request in ${name}`}>
        <code>{text}</code>
      </pre>
    </div>
  )
}
