import { apiName, type CommandRow, type OptionRow, openingWith, valueOptions } from '../../command.ts'

const request: readonly OptionRow[] = [
  ...valueOptions,
  { flags: '--request <file>', meaning: 'what is asked for: a YAML file like a scenario without `expect`' },
  { flags: '--live', meaning: 'decide by the policies of the live organization instead of definitions' },
]

const since: OptionRow = {
  flags: '--since <duration>',
  meaning: 'how far back activities are read, such as 30d or 12h (default: 90d), at most the newest 20,000',
}

/** Options of both formatters. */
export const formatting: readonly OptionRow[] = [
  { flags: '--check', meaning: 'write nothing; list the files that are not formatted and fail' },
  { flags: '--diff', meaning: 'write nothing; show what would change' },
]

/** The commands of `quorate policy`, in the order in which help lists them. */
export const policyCommands: readonly CommandRow[] = [
  {
    name: 'policy test',
    summary: 'play the scenarios beside definitions and say what differs from what they expect',
    args: '[folder]',
    argMeanings: {
      folder: 'folder of definitions with files such as policies.test.yaml (default: the current folder)',
    },
    options: [
      ...valueOptions,
      { flags: '--filter <text>', meaning: 'only scenarios whose name has this in it' },
      { flags: '--watch', meaning: 'play them again whenever a file changes' },
      { flags: '--tap', meaning: 'report as TAP' },
      { flags: '--junit <file>', writes: true, meaning: 'write a JUnit report' },
      { flags: '--coverage', meaning: 'say which clauses of policies were never true, never false or never evaluated' },
      { flags: '--coverage-threshold <percent>', meaning: 'fail when less is covered' },
      { flags: '--coverage-lcov <file>', writes: true, meaning: 'write coverage as an lcov tracefile' },
      { flags: '--coverage-html <file>', writes: true, meaning: 'write coverage as an HTML page' },
    ],
    example: 'quorate policy test definitions/acme --coverage',
    help: {
      description:
        'Decides each scenario as the service would, and shows expected, got, and the clause that made the difference.',
      examples: [['quorate policy test definitions/acme --watch', 'again whenever a file changes']],
      seeAlso: ['policy explain', 'policy lint'],
    },
    load: async () => (await import('./test.ts')).test,
  },
  {
    name: 'policy eval',
    summary: 'decide one request, or run a file of cases of the policy language',
    args: '[definitions]',
    argMeanings: { definitions: 'folder of definitions, or one of its files (default: the current folder)' },
    options: [
      ...request,
      { flags: '--cases <file>', meaning: 'run the cases of this file: a JSON line each, then the count' },
    ],
    example: 'quorate policy eval definitions/acme --request request.yaml',
    help: {
      description: 'Says the outcome and what decided it, for one request or for many.',
      examples: [['quorate policy eval --cases cases.yaml', 'cases of the language itself']],
      seeAlso: ['policy explain', 'policy test'],
    },
    load: async () => (await import('./eval.ts')).evaluate,
  },
  {
    name: 'policy explain',
    summary: 'say why a request is decided as it is: every clause, its values, and which made the difference',
    args: '[definitions]',
    argMeanings: { definitions: 'folder of definitions, or one of its files (default: the current folder)' },
    options: [
      ...request,
      { flags: '--why-not <user>', meaning: 'say why this user could not do it' },
      { flags: '--markdown', meaning: 'print Markdown' },
    ],
    example: 'quorate policy explain definitions/acme --request request.yaml --why-not carol',
    help: {
      description:
        'Shows every policy that had a say with the value of each clause, who else would have to approve, and why a person cannot.',
      seeAlso: ['policy eval', 'policy test'],
    },
    load: async () => (await import('./explain.ts')).explain,
  },
  {
    name: 'policy compare',
    summary:
      'say for each power whether one set of policies lets through more than another, with a request that shows it',
    args: '<before> <after>',
    argMeanings: {
      before: 'folder of definitions, or one of its files',
      after: 'another, such as the next version of it',
    },
    options: [
      ...valueOptions,
      {
        flags: '--expect <relation>',
        meaning: 'fail unless the second is `equal`, or lets through no more: `narrower`',
      },
      {
        flags: '--scenarios <file>',
        writes: true,
        meaning: 'write the requests as scenarios that expect what the first set decides',
      },
    ],
    example: 'quorate policy compare definitions/acme ../next/acme --expect narrower',
    help: {
      description:
        'Decides the same requests by both, with the users, tags and root quorum of each, and tells the smallest difference for each power: wider, narrower, incomparable, or unknown where it cannot be told. Each difference is played before it is shown.',
      examples: [['quorate policy compare a b --scenarios b/kept.test.yaml', 'keep what a decides as tests of b']],
      exits: ['partial'],
      seeAlso: ['policy test', 'policy explain', 'who-can'],
    },
    load: async () => (await import('./compare.ts')).compare,
  },
  {
    name: 'policy backtest',
    summary: 'decide recorded activities again as definitions would: what would be denied, allowed or wait',
    args: '[definitions]',
    argMeanings: { definitions: 'folder of definitions (default: the current folder)' },
    options: [
      ...valueOptions,
      since,
      {
        flags: '--expect <relation>',
        meaning: 'fail unless all come out `equal`; or else none is newly executed: `narrower`, or refused: `wider`',
      },
    ],
    example: 'quorate policy backtest definitions/acme --since 90d --expect wider',
    help: {
      description:
        'Plays the votes of each activity of the live organization again, in their order, by the policies, tags and people that live and by those that the definitions would make of them. What is not known, such as whose vote it was that is gone, is said. Submits nothing; a key that may read suffices.',
      examples: [['quorate policy backtest definitions/acme --json', 'each activity with both decisions']],
      exits: ['partial'],
      seeAlso: ['policy usage', 'policy compare', 'plan'],
    },
    opening: openingWith((where, api) => `Deciding the activities of ${api} again by ${where} …`),
    load: async () => (await import('./backtest.ts')).backtest,
  },
  {
    name: 'policy usage',
    summary: 'say for each live policy when an activity last hung on it, and propose what could go',
    options: [
      ...valueOptions,
      since,
      {
        flags: '--propose <folder>',
        meaning: 'print a patch of these definitions that takes away what no activity needed; writes nothing',
      },
    ],
    example: 'quorate policy usage --since 180d',
    help: {
      description:
        'Decides each recorded activity again with and without each policy that took part in it. A policy is decisive where the activity would have come out otherwise without it. With `--propose` ALLOW policies that nothing hung on are left out, and others kept to the kinds of activities that they were needed for; what is left decides every recorded activity as before, which is tried. Submits nothing.',
      examples: [
        [
          'quorate policy usage --propose definitions/acme > less.patch',
          'to read, and then `git apply -p0 less.patch`',
        ],
      ],
      exits: ['partial'],
      seeAlso: ['policy backtest', 'policy lint', 'who-can'],
    },
    opening: (_, settings) => `Reading the activities of ${apiName(settings)} …`,
    load: async () => (await import('./usage.ts')).usage,
  },
  {
    name: 'policy fmt',
    summary: 'format the expressions in files of definitions in place; nothing else in them changes',
    args: '[path...]',
    argMeanings: { path: 'folders or files of definitions (default: the current folder)' },
    options: formatting,
    example: 'quorate policy fmt definitions/acme',
    help: {
      description:
        'Lays the expressions out in one way; the tree they stand for is compared before anything is written.',
      examples: [['quorate policy fmt definitions/acme --check', 'in a pipeline']],
      seeAlso: ['fmt', 'policy lint'],
    },
    load: async () => (await import('../fmt.ts')).policyFmt,
  },
  {
    name: 'policy lint',
    summary: 'advise on policies: what can be lost, what does not work, what should be tidied',
    args: '[definitions]',
    argMeanings: { definitions: 'folder of definitions, or one of its files (default: the current folder)' },
    options: [
      ...valueOptions,
      {
        flags: '--rule <rule=severity>',
        meaning: 'severity of a rule: off, info, warning or error; may be repeated, and outweighs quorate.lint.yaml',
        repeatable: true,
      },
      { flags: '--max-warnings <n>', meaning: 'fail when there are more warnings than this' },
      { flags: '--fix', meaning: 'write what keeps the meaning of a policy into its file' },
      { flags: '--sarif <file>', writes: true, meaning: 'write a SARIF log' },
      { flags: '--github', meaning: 'print annotations for GitHub Actions' },
    ],
    example: 'quorate policy lint definitions/acme --max-warnings 0',
    help: {
      description:
        'Points at policies that let through more than they seem to, that never apply, or that say the same twice. Each finding names its rule, which docs/rules explains. In GitHub Actions, findings annotate their lines.',
      examples: [
        ['quorate policy lint definitions/acme --fix', 'mend what can be mended safely'],
        ['quorate policy lint definitions/acme --sarif lint.sarif', 'for code scanning'],
      ],
      seeAlso: ['policy test', 'validate'],
    },
    load: async () => (await import('./lint.ts')).lint,
  },
  {
    name: 'policy lsp',
    summary: 'serve editors: a language server for definitions over stdin and stdout',
    options: valueOptions,
    example: 'quorate policy lsp',
    help: {
      description:
        'Speaks the Language Server Protocol: mistakes, advice, hover, completion and fixes in YAML files of definitions.',
      seeAlso: ['policy lint', 'validate'],
    },
    load: async () => (await import('./lsp.ts')).lsp,
  },
]
