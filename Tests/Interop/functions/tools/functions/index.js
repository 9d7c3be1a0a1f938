// One function of each generation. Each writes what it was told, so that the suite can read it.
const { initializeApp } = require("firebase-admin/app");
const { getFirestore } = require("firebase-admin/firestore");
const { onDocumentWritten } = require("firebase-functions/v2/firestore");
const functions = require("firebase-functions/v1");

initializeApp();

exports.first = functions.firestore.document("rooms/{room}").onCreate((snapshot, context) =>
  getFirestore().doc(`first/${context.params.room}`).set({ seats: snapshot.data().seats }));

exports.second = onDocumentWritten("rooms/{room}", (event) =>
  getFirestore().doc(`second/${event.params.room}`).set({
    before: event.data.before.data()?.seats ?? null,
    after: event.data.after.data()?.seats ?? null,
  }));
