import { EXIT, QuorateError, renderError } from '../diagnostics/index.ts'
import { explainSystemError } from '../local/index.ts'

/** Ends the process because stdout takes nothing more, as on a full disk: what the command did, it cannot say. */
export function endUnwritten(cause: Error): never {
  const said = explainSystemError(cause, { doing: 'the output could not be written' })
  const error =
    said instanceof QuorateError
      ? new QuorateError(said.code, said.message, {
          facts: said.facts,
          next: `${said.next}; what the command began goes on: \`quorate status\` says how it stands`,
          cause,
        })
      : said
  process.stderr.write(renderError(error))
  process.exit(EXIT.error)
}
