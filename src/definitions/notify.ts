import { type Diagnostic, diagnostic } from '../diagnostics/index.ts'
import { childOf, type MapEntry, type Tree, textOf } from './tree.ts'

/**
 * What a message to people is about. `drift`: something is not as defined · `waiting`: an activity waits for approvals ·
 * `lapsed`: approvals that count no more · `rejected`, `failed`: how an apply ended · `stuck`: a repair is held, or looks or
 * an apply, a send or a rotation cannot go on.
 */
export const NOTICE_TOPICS = ['drift', 'waiting', 'lapsed', 'rejected', 'failed', 'stuck'] as const
export type NoticeTopic = (typeof NOTICE_TOPICS)[number]

/** `slack`: a webhook in Slack's form · `webhook`: a signed one · `email`: an e-mail. */
export const NOTICE_SINKS = ['slack', 'webhook', 'email'] as const

/** Where messages go, and about what. It names what is secret, and holds none of it. */
export interface NoticeSink {
  readonly name: string
  readonly kind: (typeof NOTICE_SINKS)[number]
  /** The variable of the worker's environment that has the URL; for an e-mail, the address. */
  readonly to: string
  readonly about: readonly NoticeTopic[]
  /** Whose audience it is, by name in the definitions or by id: what this user has approved already does not wait for them. */
  readonly user?: string
  readonly quiet?: QuietHours
}

/** A time of day in which nothing is sent: from `22:00` to `07:00` is a night. */
export interface QuietHours {
  readonly from: string
  readonly to: string
  /** A time zone of the IANA database. */
  readonly zone: string
}

/** The first part of the name of each variable that a sink may name: a definition cannot ask for another secret of the worker. */
export const NOTICE_VARIABLE = /^QUORATE_NOTIFY_[A-Z0-9_]{1,64}$/

/** Reads `notify:` of a watch; what has the wrong shape is the schema's to report. */
export function readNotify(tree: Tree | undefined, diagnostics: Diagnostic[]): readonly NoticeSink[] {
  if (tree?.kind !== 'map') return []
  return tree.entries.flatMap((entry) => readSink(entry, diagnostics) ?? [])
}

function readSink({ key: name, keySpan, value }: MapEntry, diagnostics: Diagnostic[]): NoticeSink | undefined {
  const given = NOTICE_SINKS.flatMap((kind) => {
    const to = textOf(childOf(value, kind))
    return to === undefined ? [] : [{ kind, to }]
  })
  const [sink] = given
  if (value.kind === 'map' && given.length !== 1) {
    const message = `expected one of \`slack\`, \`webhook\` and \`email\` in \`${name}\`, got ${given.length}`
    diagnostics.push(
      diagnostic('definitions/wrong-value', message, keySpan, { help: 'give each sink a name of its own' }),
    )
  }
  const listed = childOf(value, 'about')
  const words = listed?.kind === 'list' ? listed.items.map(textOf) : NOTICE_TOPICS
  const user = textOf(childOf(value, 'user'))
  const quiet = readQuiet(childOf(value, 'quiet'), diagnostics)
  if (!sink) return undefined
  return {
    name,
    ...sink,
    about: NOTICE_TOPICS.filter((topic) => words.includes(topic)),
    ...(user === undefined ? {} : { user }),
    ...(quiet ? { quiet } : {}),
  }
}

function readQuiet(tree: Tree | undefined, diagnostics: Diagnostic[]): QuietHours | undefined {
  const [from, to] = [textOf(childOf(tree, 'from')), textOf(childOf(tree, 'to'))]
  const zone = textOf(childOf(tree, 'zone')) ?? 'UTC'
  if (tree === undefined || from === undefined || to === undefined) return undefined
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: zone })
  } catch {
    const message = `expected a time zone such as \`Europe/Berlin\`, got \`${zone}\``
    diagnostics.push(diagnostic('definitions/wrong-value', message, childOf(tree, 'zone')!.span))
  }
  return { from, to, zone }
}
