/** The commands that watch organizations. Apart from what carries them out, which help does not load. */
import { type CommandRow, valueOptions } from '../command.ts'

const load = async () => import('./watch.ts')

export const watchCommands: readonly CommandRow[] = [
  {
    name: 'watch add',
    summary: 'look at the organization again and again, and report, propose or repair what is not as defined',
    args: '[folder]',
    argMeanings: { folder: 'folder of definitions (default: the current folder)' },
    options: [
      ...valueOptions,
      { flags: '--every <time>', meaning: 'how often, over `watch:` of the definitions (default: 1m)' },
      { flags: '--sweep <time>', meaning: 'how often all is read although no activity is new (default: 1h)' },
      {
        flags: '--kind <kind=mode>',
        meaning: 'ignore, report, propose or repair a kind, such as `policies=repair`; may be repeated',
        repeatable: true,
      },
    ],
    example: 'quorate watch add definitions/acme --every 5m --kind policies=repair',
    help: {
      description:
        'Keeps the definitions, with the values that they refer to, beside the plans that the worker applies, and has a Temporal Schedule look at the organization from now on. Run it again after a change of the definitions, from CI for instance: what it was given last is what counts. It needs a worker, and no working tree where that runs. Whatever is not told otherwise is reported and nothing more.',
      examples: [['quorate watch add definitions/acme', 'report what drifts, once a minute']],
      seeAlso: ['watch list', 'watch pause', 'status', 'worker', 'plan'],
    },
    opening: ([where = '.']) => `Planning ${where} …`,
    load: async () => (await load()).add,
  },
  {
    name: 'watch list',
    summary: 'say how each watched organization stands: last good, what drifted and by whom, next look',
    example: 'quorate watch list',
    help: {
      description:
        'Says of each organization that is watched from this data folder when it was last as defined, what has drifted since when and who did it, what waits for approval, why a repair is held, and when it is looked at next.',
      examples: [['quorate watch list --json', 'as data']],
      seeAlso: ['watch add', 'status'],
    },
    load: async () => (await load()).list,
  },
  {
    name: 'watch pause',
    summary: 'look at the organization no more until it is resumed',
    options: [{ flags: '--because <text>', meaning: 'why, for whoever asks how it stands' }],
    example: 'quorate watch pause --because INC-7',
    help: {
      description: 'Nothing is looked at and nothing repaired until `watch resume`. An apply that was begun goes on.',
      seeAlso: ['watch resume', 'watch run', 'status'],
    },
    load: async () => (await load()).pause,
  },
  {
    name: 'watch resume',
    summary: 'look at the organization again, and try once more what was held',
    example: 'quorate watch resume',
    help: {
      description:
        'Ends a pause, and lets a repair go on that was held because the same things were changed again and again, or because the last one failed.',
      seeAlso: ['watch pause', 'watch list'],
    },
    load: async () => (await load()).resume,
  },
  {
    name: 'watch run',
    summary: 'look at the organization now',
    example: 'quorate watch run',
    help: {
      description: 'Looks once, also while it is paused; after the look that runs, if one does.',
      seeAlso: ['watch list', 'watch pause'],
    },
    load: async () => (await load()).run,
  },
  {
    name: 'watch remove',
    summary: 'stop watching the organization',
    example: 'quorate watch remove',
    help: {
      description: 'Deletes the Schedule and forgets what was found. An apply that was begun goes on.',
      seeAlso: ['watch add', 'watch pause'],
    },
    load: async () => (await load()).remove,
  },
]
