import { type Codes, EXIT } from '../diagnostics/index.ts'

export const codes = {
  'plan/ambiguous': {
    summary: 'more than one live thing answers to a name in the definitions',
    solve: 'rename or delete one of them, or write the id that is meant into the lock file',
  },
  'plan/unknown-fields': {
    summary: 'a lock of an older version does not say whether a field that a definition leaves out was managed',
    solve: 'write the field with what it is to be, or apply once: from then on the lock says it',
  },
  'plan/immutable': {
    summary: 'a definition changes a field that what exists keeps for life',
    solve: 'put the old value back, or define a new resource beside the old one',
  },
  'plan/cannot-change': {
    summary: 'the API has no activity that would make this change',
    solve: 'take the change out of the definitions',
  },
  'plan/perhaps-renamed': {
    summary: 'a definition would make anew what may be something that goes, under another name',
    solve: 'if it is the same, write the `renamedFrom:` that the message names; otherwise nothing',
  },
  'plan/unknown-reference': {
    summary: 'a definition refers to a name that is neither defined nor live',
    solve: 'define it, or correct the name',
  },
  'plan/cycle': {
    summary: 'changes wait for one another in a circle, so there is no order in which to make them',
    solve: 'make one of them in a plan of its own, such as one half of an exchange of names',
  },
  'plan/unknown-target': {
    summary:
      'a target names what is neither defined, live nor in the lock, or what has another name in the definitions',
    solve: 'name an address as a plan shows it',
  },
  'plan/unknown-bypass': {
    summary: 'a bypass names no guard, or lacks its number',
    solve: 'use the bypass that the guard itself prints',
  },
  'plan/foreign-format': {
    summary: 'a file is not a plan, or a plan of another version',
    solve: 'make the plan again with this version',
  },
  'plan/edited': {
    summary: 'a plan does not match its digest: it was changed after it was made',
    solve: 'make the plan again; a plan is not edited by hand',
  },
  'plan/stale': {
    summary: 'the live organization has moved since the plan was made',
    solve: 'make the plan again and look at it',
    exit: EXIT.stale,
  },
  'plan/other-organization': {
    summary: 'the plan was made for another organization',
    solve: 'apply it where it was made, or make a plan for this organization',
  },
  'plan/unknown-id': {
    summary: 'the id of something that a batch refers to is not known when the batch is due',
    solve: 'make the plan again; if this comes back, report it with the plan',
  },
  'plan/no-result': {
    summary: "an activity's result lacks an id that the plan expects there",
    solve: 'check that the base URL is that of the API; the next plan finds what was made',
  },
} as const satisfies Codes
