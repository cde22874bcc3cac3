/** The texts of e-mails that the operator has put into a folder: `ID/subject.txt`, `ID/body.txt`, `ID/body.html`. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../diagnostics/index.ts'
import { ServiceError } from '../error.ts'

/** One e-mail, with fields to be filled in. */
export interface MailTemplate {
  readonly subject: string
  readonly text: string
  readonly html: string
}
export type MailTemplates = ReadonlyMap<string, MailTemplate>

const FILES = { subject: 'subject.txt', text: 'body.txt', html: 'body.html' } as const
const MOST_BYTES = 262_144

/** Reads every template, at the start. Throws `service/mail-template-unreadable`. */
export function readMailTemplates(folder: string | undefined): MailTemplates {
  if (folder === undefined) return new Map()
  return new Map(
    read(folder, () => readdirSync(folder, { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => [name.toLowerCase(), readTemplate(join(folder, name))]),
  )
}

function readTemplate(folder: string): MailTemplate {
  const of = (name: string) => {
    const path = join(folder, name)
    return read(path, () => {
      if (statSync(path).size > MOST_BYTES) throw new Error(`larger than ${MOST_BYTES} bytes`)
      return readFileSync(path, 'utf8')
    })
  }
  return { subject: of(FILES.subject), text: of(FILES.text), html: of(FILES.html) }
}

function read<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (cause) {
    const reason = messageOf(cause)
    throw new ServiceError(
      'service/mail-template-unreadable',
      `the mail template \`${path}\` cannot be read: ${reason}`,
      {
        facts: { path },
        next: 'put `subject.txt`, `body.txt` and `body.html` there, or name another folder with --mail-templates',
        cause,
      },
    )
  }
}
