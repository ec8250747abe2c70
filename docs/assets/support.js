"use strict";
// Queries on the matrix: which tensors of an operator support a type and a rank, at which levels.
specgate.support = {
  takes(set, type, data) {
    return !type || set === -1 || data.sets[set].includes(type);
  },
  hasRank(bounds, rank) {
    if (!rank || !bounds) return true;
    return bounds.split(",").some((part) => {
      const [low, high] = part.trim().split("..");
      if (high === undefined) return part.includes("..") ? rank >= Number(low) : rank === Number(low);
      return rank >= Number(low) && (high === "" || rank <= Number(high));
    });
  },
  // The state per level: "page" if documented, "refused" if real builds then reject it, "builds" if undocumented but accepted, "no", or "" without the operator.
  states(row, wanted, data) {
    const found = data.levels.map(() => "");
    for (const [first, last, types, ranks, builtTypes, builtRanks] of row[2]) {
      const page = this.takes(types, wanted.type, data) && this.hasRank(ranks, wanted.rank);
      const builds = this.takes(builtTypes, wanted.type, data) && this.hasRank(builtRanks, wanted.rank);
      for (let at = first; at <= last; at++) found[at] = page ? (builds ? "page" : "refused") : builds ? "builds" : "no";
    }
    return found;
  },
  words: {
    page: "yes", builds: "undocumented, but works", refused: "documented, but rejected by real builds",
    no: "no", "": "the operator does not exist",
  },
  // Levels in a state as ranges: 3.0..6.4.
  ranges(states, wanted, data) {
    const parts = [];
    states.forEach((state, at) => {
      if (!wanted.includes(state)) return;
      const last = parts[parts.length - 1];
      if (last && last[1] === at - 1) last[1] = at;
      else parts.push([at, at]);
    });
    return parts.map(([a, b]) => (a === b ? data.levels[a] : `${data.levels[a]}..${data.levels[b]}`)).join(", ");
  },
  key(text) {
    return text.toLowerCase().replace(/[_\s]/g, "").replace(/^dmloperator/, "");
  },
};
