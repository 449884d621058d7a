import type { Mutant } from './mutant.ts';

const twoPeople = 'test/browser/two-people.test.ts';
const signedInAs = 'test/http/signed-in-as.test.ts';

/** Pages of one person in a browser that is signed in as another. */
export const consolePeople: readonly Mutant[] = [
  {
    file: 'src/http/route/admit.ts',
    text: '  browser.refuseAnother(principalOf(found).id);\n',
    replacement: '',
    test: signedInAs,
    only: 'neither reads nor changes',
    harm: 'What somebody does in an old tab is signed as whoever signed in last.',
  },
  {
    file: 'src/api/service/sign-in.ts',
    text: '      if (principal) browser.refuseAnother(principal.id);\n',
    replacement: '',
    test: signedInAs,
    only: 'neither reads nor changes',
    harm: 'Who signs out in an old tab signs somebody else out.',
  },
  {
    file: 'src/http/route/browser.ts',
    text: "if (believed !== '' && believed !== String(personId))",
    replacement: 'if (believed !== String(personId))',
    test: 'test/http/sign-in.test.ts',
    only: 'lets pages of this service',
    harm: 'Whoever calls by the cookie and does not say as whom is refused.',
  },
  {
    file: 'web/shared/call.ts',
    text: 'const content = contentOf({ ...sent, ...limited }, person?.() ?? null);',
    replacement: 'const content = contentOf({ ...sent, ...limited }, null);',
    test: twoPeople,
    only: 'sends nothing as the other',
    harm: 'A reply that Alice wrote is sent in the name of Bob.',
  },
  {
    file: 'web/console/upload.ts',
    text: '...personHeader(currentPerson()), ',
    replacement: '',
    test: twoPeople,
    only: 'no files as the other',
    harm: 'Files that Alice chose are sent in the name of Bob.',
  },
  {
    file: 'web/console/session.ts',
    text: 'watchTabs(() => void lookAgain());',
    replacement: '',
    test: twoPeople,
    only: 'another page of the browser',
    harm: 'A tab shows for hours what somebody sees who has signed out.',
  },
  {
    file: 'web/console/kit/task.ts',
    text: 'return `${currentPerson()} ${currentAccount()?.id}`;',
    replacement: 'return `${currentAccount()?.id}`;',
    test: twoPeople,
    only: 'ends an import',
    harm: 'An import that Alice began goes on in the name of Bob.',
  },
];
