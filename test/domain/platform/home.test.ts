import { expect } from 'chai';
import { decideSending } from '../../../src/domain/platform/home.ts';

const place = { systemIdentifier: '7300000000000000001', databaseOid: 16_384 };
const home = { ...place, publicUrl: 'https://desk.example.com' };
const unset = { outbound: 'on', publicUrl: null } as const;
const at = (publicUrl: string) => ({ ...unset, publicUrl });

describe('the decision whether a process sends', () => {
  it('makes the first place the home, and keeps the first PUBLIC_URL that it sends with', () => {
    expect(decideSending(null, place, unset).nextHome).to.deep.equal({ ...place, publicUrl: null });
    expect(decideSending(null, place, at(home.publicUrl)).nextHome).to.deep.equal(home);
    const urlless = { ...place, publicUrl: null };
    expect(decideSending(urlless, place, at(home.publicUrl))).to.deep.equal({
      heldFor: null,
      differences: [],
      nextHome: home,
    });
  });

  it('sends at home, without a PUBLIC_URL or with another spelling of it, and has nothing to remember', () => {
    for (const settings of [unset, at(home.publicUrl), at('https://DESK.example.com:443')])
      expect(decideSending(home, place, settings), settings.publicUrl ?? 'unset').to.deep.equal({
        heldFor: null,
        differences: [],
        nextHome: null,
      });
  });

  it('takes another server, another database and another PUBLIC_URL for a copy, whose home stays', () => {
    const elsewhere = { systemIdentifier: '7300000000000000002', databaseOid: 16_385 };
    for (const [where, settings, differences] of [
      [{ ...place, systemIdentifier: elsewhere.systemIdentifier }, unset, ['server']],
      [{ ...place, databaseOid: elsewhere.databaseOid }, at(home.publicUrl), ['database']],
      [place, at('https://staging.example.com'), ['PUBLIC_URL']],
      [elsewhere, at('https://staging.example.com'), ['server', 'database', 'PUBLIC_URL']],
    ] as const)
      expect(decideSending(home, where, settings)).to.deep.equal({ heldFor: 'copy', differences, nextHome: null });
  });

  it('compares no system identifier that a role may not see, and remembers it once it may', () => {
    const unseen = { ...place, systemIdentifier: null };
    expect(decideSending(home, unseen, unset)).to.deep.include({ heldFor: null, nextHome: null });
    expect(decideSending({ ...home, systemIdentifier: null }, place, unset)).to.deep.include({
      heldFor: null,
      nextHome: home,
    });
  });

  it('sends nothing with OUTBOUND=off, and remembers no PUBLIC_URL, with which it has not sent', () => {
    const off = { outbound: 'off', publicUrl: 'https://staging.example.com' } as const;
    expect(decideSending(null, place, off)).to.deep.include({
      heldFor: 'off',
      nextHome: { ...place, publicUrl: null },
    });
    expect(decideSending(home, place, off)).to.deep.include({ heldFor: 'off', nextHome: null });
  });
});
